"""Connect's transforms, by Kafka's class names, compiled to Spark SQL expressions."""
