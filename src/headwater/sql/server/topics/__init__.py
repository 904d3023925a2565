"""Topics of streams and tables, and their schemas: found, made, written to."""
