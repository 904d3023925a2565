"""Consumer instances: consumers that HTTP clients make, read from and leave behind."""
