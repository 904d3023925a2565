"""Users' processors on Spark's transformWithState, in Python."""
