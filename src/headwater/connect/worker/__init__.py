"""The Connect worker: its state in topics, the herder, running connectors, and its REST API."""
