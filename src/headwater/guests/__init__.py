"""Services that need Spark, as guests of one process: they share its JVM and its host of jobs."""
