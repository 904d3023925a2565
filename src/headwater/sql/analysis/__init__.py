"""What the names in a statement stand for, and the type of each of its expressions."""
