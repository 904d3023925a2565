"""Changes of PostgreSQL, from a logical replication slot."""
