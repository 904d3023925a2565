"""What groups have committed: the offsets, their records, and who may commit."""
