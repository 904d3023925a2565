"""What the server answers, in ksqlDB's JSON."""
