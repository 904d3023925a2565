"""Change data capture under the class names, properties and events of Debezium."""
