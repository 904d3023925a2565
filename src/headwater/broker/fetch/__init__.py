"""Fetch: what a session wants, and one pull of it at a time."""
