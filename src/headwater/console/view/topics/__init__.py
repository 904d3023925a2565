"""Pages about topics."""
