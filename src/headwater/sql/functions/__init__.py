"""The functions of the language: what they take, what they return, and what they are for."""
