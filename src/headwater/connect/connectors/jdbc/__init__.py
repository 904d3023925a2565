"""JDBC: rows of databases as records, and records as rows of databases."""
