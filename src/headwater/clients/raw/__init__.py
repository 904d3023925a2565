"""Requests in Kafka's protocol that no client library sends; the one door to `protocol`."""
