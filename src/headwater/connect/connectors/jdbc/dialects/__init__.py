"""What differs between databases: drivers, SQL and types; a module for each."""
