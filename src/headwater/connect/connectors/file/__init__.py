"""FileStream: lines of a file as records, and records as lines of a file."""
