"""Types of columns: what they are called, where they come from, which fit each other."""
