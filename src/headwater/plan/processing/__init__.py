"""Processors of users' own, and folds."""
