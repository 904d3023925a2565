"""The SQL server: statements by HTTP as ksqlDB takes them, queries as jobs of Spark's host."""
