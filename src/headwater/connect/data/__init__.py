"""Connect's data model: schemas, what a batch of records looks like, and both as Spark's types."""
