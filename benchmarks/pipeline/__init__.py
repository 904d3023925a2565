"""Stream processing: Headwater's programs next to PySpark by hand, Quix Streams and Faust."""
