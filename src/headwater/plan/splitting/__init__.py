"""A plan in stages, and what follows from them."""
