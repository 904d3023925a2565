"""What the console knows: asks the cluster and the services, in threads, and knows no page."""
