"""The bit sets of what a client may do with a topic, a group or the cluster: all of it."""

from __future__ import annotations

# The bits are the numbers of Kafka's AclOperation.
_READ, _WRITE, _CREATE, _DELETE, _ALTER, _DESCRIBE = 3, 4, 5, 6, 7, 8
_CLUSTER_ACTION, _DESCRIBE_CONFIGS, _ALTER_CONFIGS, _IDEMPOTENT_WRITE = 9, 10, 11, 12


def _bits(*operations: int) -> int:
    return sum(1 << operation for operation in operations)


ON_TOPIC = _bits(
    _READ, _WRITE, _CREATE, _DELETE, _ALTER, _DESCRIBE, _DESCRIBE_CONFIGS, _ALTER_CONFIGS
)
ON_CLUSTER = _bits(
    _CREATE, _ALTER, _DESCRIBE, _CLUSTER_ACTION, _DESCRIBE_CONFIGS, _ALTER_CONFIGS,
    _IDEMPOTENT_WRITE,
)  # fmt: skip
ON_GROUP = _bits(_READ, _DELETE, _DESCRIBE, _DESCRIBE_CONFIGS, _ALTER_CONFIGS)
