"""HTTP: records as requests, and what a service answers as records."""
