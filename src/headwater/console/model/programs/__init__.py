"""Programs that run, and their pictures."""
