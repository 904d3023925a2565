"""The journal: one sequential file for what all logs have yet to bring to their own files."""
