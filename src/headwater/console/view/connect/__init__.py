"""Pages about connectors."""
