"""The schema registry: keeps schemas in a compacted topic, checks each change, serves them."""
