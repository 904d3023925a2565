"""Stream processing: Headwater next to Kafka Streams, Flink, PySpark by hand, and Python's own."""
