"""The embedded broker: Kafka's protocol in front of the commit log."""
