"""Plans as text and as pictures."""
