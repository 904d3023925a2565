"""What the console answers to programs: exports of records."""
