"""How functions are computed in Python: a module for each category of the catalogue."""
