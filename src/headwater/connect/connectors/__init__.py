"""Connectors: what brings data into topics and out of them, a folder or module for each kind."""
