"""Connect: connectors, transforms and converters, run as Spark jobs; the worker and its API."""
