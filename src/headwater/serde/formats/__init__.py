"""The formats, one module each; those that need a schema registry side by side with the others."""
