"""Services that need Spark, hosted by one process: they share its JVM and its host of jobs."""
