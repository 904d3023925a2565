"""MQTT: messages of devices as records, and records as messages."""
