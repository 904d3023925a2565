"""Debezium's transforms of change events, under Debezium's class names."""
