"""Who did what to which resource, from where, and whether it was allowed."""
