"""Statements, a module for each thing that one does with them."""
