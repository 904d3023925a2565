"""The web console: the platform in a browser."""
