"""Statements that change something: tried, kept in the command topic, and done."""
