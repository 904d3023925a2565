"""Look-ups over HTTP: the same answers as in process, as JSON."""
