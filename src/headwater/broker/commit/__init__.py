"""When a write is safe: one flush for everything that arrived while the last one was running."""
