"""Compaction: which segments, which records, and how they are put in place of the old ones."""
