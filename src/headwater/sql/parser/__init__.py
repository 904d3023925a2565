"""Text to tree: the grammar, the words of the language, and what makes nodes of its rules."""
