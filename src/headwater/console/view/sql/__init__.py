"""Pages about streaming SQL."""
