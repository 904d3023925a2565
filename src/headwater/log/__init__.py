"""The commit log: record batches, segments, indexes, retention, compaction and recovery."""
