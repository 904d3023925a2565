"""Groups of the new protocol (KIP-848): the broker assigns, and members follow by heartbeats."""
