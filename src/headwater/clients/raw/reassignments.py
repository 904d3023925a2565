"""Partitions whose replicas are being moved; client libraries have no call for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.clients.connection import REQUEST_WITHIN_S
from headwater.clients.raw.admin import check
from headwater.protocol.api_keys import ApiKey

if TYPE_CHECKING:
    from headwater.clients.raw.admin import RawAdmin

_TIMEOUT_MS = int(REQUEST_WITHIN_S * 1000)
_VERSION = 0


class Reassignment(NamedTuple):
    """A partition on its way to other brokers."""

    topic: str
    partition: int
    replicas: list[int]
    adding: list[int]
    removing: list[int]


def reassignments(admin: RawAdmin) -> list[Reassignment]:
    """Return all that are in progress; raises ClientError."""
    answer = admin.ask_any(
        ApiKey.LIST_PARTITION_REASSIGNMENTS, _VERSION, {"timeout_ms": _TIMEOUT_MS, "topics": None}
    )
    check(answer.error_code, "listing reassignments")
    return [
        Reassignment(
            topic.name,
            each.partition_index,
            list(each.replicas),
            list(each.adding_replicas),
            list(each.removing_replicas),
        )
        for topic in answer.topics
        for each in topic.partitions
    ]
