"""Tree to text: one way to write each statement, which is read back as the same tree."""
