"""From offsets and timestamps to positions: the files, and what to do when they lie."""
