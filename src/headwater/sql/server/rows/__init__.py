"""Rows in Python: read from records, computed, and written as records; Spark has no part in it."""
