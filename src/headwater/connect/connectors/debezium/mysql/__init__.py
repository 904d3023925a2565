"""Changes of MariaDB and MySQL, from the binlog."""
