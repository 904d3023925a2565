"""Which partition of an internal topic looks after a group or a transactional id."""

from __future__ import annotations


def coordinator_partition(name: str, partitions: int) -> int:
    """Spread names over partitions as Kafka does, so that its files keep their place."""
    number = java_hash(name)
    return (0 if number == -(2**31) else abs(number)) % partitions


def java_hash(text: str) -> int:
    """Compute the hash of a string in Java: 31 times and add, over UTF-16, in 32 bits."""
    number = 0
    encoded = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(encoded[::2], encoded[1::2], strict=True):
        number = (31 * number + (high << 8 | low)) & 0xFFFFFFFF
    return number - (1 << 32) if number >= 1 << 31 else number
