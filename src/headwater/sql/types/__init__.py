"""What types mean: which ones mix, compare, calculate and convert, and what becomes of them."""
