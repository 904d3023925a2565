"""Where a partition's leader is now: tagged fields that Produce and Fetch responses share."""

from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple

from headwater.protocol.encodings import COMPACT
from headwater.protocol.primitives import write_int32

_LEADER = Struct(">iix")  # each structure ends in its count of tagged fields: none


class CurrentLeader(NamedTuple):
    """Whom a client should turn to, after an error that says "not me"."""

    leader_id: int
    leader_epoch: int


class NodeEndpoint(NamedTuple):
    """How to reach a leader that a client may not have heard of."""

    node_id: int
    host: str
    port: int
    rack: str | None = None


def encode_current_leader(leader: CurrentLeader) -> bytes:
    """Write the value of the tagged field."""
    return _LEADER.pack(*leader)


def encode_node_endpoints(endpoints: Sequence[NodeEndpoint]) -> bytes:
    """Write the value of the tagged field."""
    parts = [COMPACT.write_array_length(len(endpoints))]
    for node_id, host, port, rack in endpoints:
        parts += (
            write_int32(node_id),
            COMPACT.write_string(host),
            write_int32(port),
            COMPACT.write_nullable_string(rack),
            b"\x00",
        )
    return b"".join(parts)
