"""What a log is made of: its segments, when a new one begins, how others take their place."""
