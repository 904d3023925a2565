"""Pages about clusters and their brokers."""
