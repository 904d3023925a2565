"""What carries frames: listeners, connections, their limits, and the bytes that leave."""
