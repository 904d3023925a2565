"""Statements as data: frozen dataclasses that know where in the text they stand."""
