"""What `headwater connect` is made of: a worker's client, connector files, Kafka's own worker."""
