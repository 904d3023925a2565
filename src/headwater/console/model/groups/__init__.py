"""Groups, and how far they are behind."""
