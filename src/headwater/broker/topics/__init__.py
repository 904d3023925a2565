"""Topics and partitions: what there is, how new ones are made, which names they may have."""
