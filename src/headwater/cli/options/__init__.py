"""Options that several commands take, and what their values mean."""
