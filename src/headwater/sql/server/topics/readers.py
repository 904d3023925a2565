"""Who reads which topic: the consumers and groups of the cluster, counted as ksqlDB counts them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.clients.raw.group_coordinator import wait_for_coordinator
from headwater.clients.retries import ATTEMPT_WITHIN_S, retry

if TYPE_CHECKING:
    from confluent_kafka.admin import ConsumerGroupDescription

    from headwater.clients.connection import Connection

_GONE = "GROUP_ID_NOT_FOUND"


class Readers:
    """Those of one topic: its partitions that a consumer has, of every group, and the groups."""

    def __init__(self) -> None:
        self.consumers = 0
        self.groups: set[str] = set()


def readers_by_topic(connection: Connection) -> dict[str, Readers]:
    """Return the readers of each topic that has any; raises KafkaException and ClientError."""
    found: dict[str, Readers] = {}
    for group in _group_names(connection):
        described = _described(connection, group)
        for member in [] if described is None else described.members:
            for place in member.assignment.topic_partitions:
                readers = found.setdefault(place.topic, Readers())
                readers.consumers += 1
                readers.groups.add(group)
    return found


def _group_names(connection: Connection) -> list[str]:
    from confluent_kafka import KafkaException

    def ask() -> list[str]:
        asked = connection.admin.list_consumer_groups(request_timeout=ATTEMPT_WITHIN_S)
        listed = connection.result(asked)
        if listed.errors:
            raise KafkaException(listed.errors[0])
        return [group.group_id for group in listed.valid]

    return retry(ask)


def _described(connection: Connection, group: str) -> ConsumerGroupDescription | None:
    """Return what its coordinator says of a group; None if it has gone meanwhile."""
    from confluent_kafka import KafkaException

    def ask() -> ConsumerGroupDescription:
        wait_for_coordinator(connection, group)
        (future,) = connection.admin.describe_consumer_groups([group]).values()
        return connection.result(future)

    try:
        return retry(ask)
    except KafkaException as failure:
        if failure.args[0].name() == _GONE:
            return None
        raise
