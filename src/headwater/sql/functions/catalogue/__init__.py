"""The functions, a module for each category."""
