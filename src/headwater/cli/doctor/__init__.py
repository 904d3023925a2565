"""`headwater doctor`: what is wrong, in plain words, and what to do about it."""
