"""Pages about programs that run."""
