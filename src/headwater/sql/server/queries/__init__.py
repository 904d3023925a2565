"""Queries: those that stay, those that push rows as they come, and those that pull them."""
