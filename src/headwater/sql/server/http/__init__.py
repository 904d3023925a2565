"""The server's routes: statements, queries, inserts, and what is said of the server itself."""
