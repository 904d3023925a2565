"""ksqlDB's language: read into a typed tree, written back as text, and checked; it runs nothing."""
