"""Expressions over columns: their functions, operators and types, and how text is read as one."""
