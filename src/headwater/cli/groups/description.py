"""What `headwater groups describe` shows of a group, gathered from four kinds of requests."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from headwater.cli.errors import CommandError
from headwater.clients.raw.group_coordinator import wait_for_coordinator
from headwater.clients.retries import ATTEMPT_WITHIN_S, retry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import (
        ConsumerGroupDescription,
        ConsumerGroupListing,
        MemberDescription,
    )

    from headwater.clients.connection import Connection

Described = dict[str, Any]

GONE = ("GROUP_ID_NOT_FOUND", "DEAD")


class UnknownGroupError(CommandError):
    """The cluster has no group of this name; close names are suggested."""

    def __init__(self, group: str, known: Sequence[str]) -> None:
        close = difflib.get_close_matches(group, known, n=3)
        hint = f"Did you mean {' or '.join(close)}?" if close else "See: headwater groups list"
        super().__init__(f"there is no group '{group}'. {hint}")


def all_groups(connection: Connection) -> list[ConsumerGroupListing]:
    """Return the groups of all brokers; a broker that stays silent is a failure, not a gap."""
    from confluent_kafka import KafkaException

    def ask() -> list[ConsumerGroupListing]:
        asked = connection.admin.list_consumer_groups(request_timeout=ATTEMPT_WITHIN_S)
        listed = connection.result(asked)
        if listed.errors:
            raise KafkaException(listed.errors[0])
        return list(listed.valid)

    return retry(ask)


def group_names(connection: Connection) -> list[str]:
    """Return the names of all groups, sorted."""
    return sorted(group.group_id for group in all_groups(connection))


def find_group(connection: Connection, group: str) -> ConsumerGroupDescription | None:
    """Return what the coordinator says of a group; None if there is none."""
    from confluent_kafka import KafkaException

    def ask() -> ConsumerGroupDescription:
        wait_for_coordinator(connection, group)
        (future,) = connection.admin.describe_consumer_groups([group]).values()
        return connection.result(future)

    try:
        found = retry(ask)
    except KafkaException as failure:
        if failure.args[0].name() in GONE:
            return None
        raise
    return None if found.state.name == "DEAD" else found


def committed_offsets(connection: Connection, group: str) -> dict[tuple[str, int], int]:
    """Return all offsets that a group has committed."""
    from confluent_kafka import ConsumerGroupTopicPartitions

    def ask() -> list[TopicPartition]:
        wait_for_coordinator(connection, group)
        (future,) = connection.admin.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group)]
        ).values()
        return list(connection.result(future).topic_partitions)

    return {(one.topic, one.partition): one.offset for one in retry(ask) if one.offset >= 0}


def describe_group(connection: Connection, group: str) -> Described:
    """Return one dictionary per group, ready for JSON; raises UnknownGroupError."""
    found = find_group(connection, group)
    if found is None:
        raise UnknownGroupError(group, group_names(connection))
    return {
        "group": group,
        "state": state_name(found.state),
        "type": found.type.name.capitalize(),
        "assignor": found.partition_assignor,
        "coordinator": found.coordinator.id if found.coordinator is not None else None,
        "members": [_member(member) for member in found.members],
        "partitions": _partitions(connection, group, found),
    }


def state_name(state: Any) -> str:
    """Return a state as Kafka writes it: PREPARING_REBALANCING is PreparingRebalance."""
    name = str(state.name)
    return _STATES.get(name, name.title().replace("_", ""))


_STATES = {
    "PREPARING_REBALANCING": "PreparingRebalance",
    "COMPLETING_REBALANCING": "CompletingRebalance",
}


def _member(member: MemberDescription) -> Described:
    assignment = member.assignment.topic_partitions if member.assignment is not None else []
    topics: dict[str, list[int]] = {}
    for one in sorted(assignment, key=lambda one: (one.topic, one.partition)):
        topics.setdefault(one.topic, []).append(one.partition)
    return {
        "consumer_id": member.member_id,
        "instance_id": member.group_instance_id or None,
        "host": member.host,
        "client_id": member.client_id,
        "partition_count": len(assignment),
        "assignment": topics,
    }


def _partitions(
    connection: Connection, group: str, found: ConsumerGroupDescription
) -> list[Described]:
    from confluent_kafka.admin import OffsetSpec

    owners = {
        (one.topic, one.partition): member
        for member in found.members
        if member.assignment is not None
        for one in member.assignment.topic_partitions
    }
    committed = committed_offsets(connection, group)
    places = sorted({*owners, *committed})
    known = set(connection.topic_names())
    ends = connection.offsets([place for place in places if place[0] in known], OffsetSpec.latest())
    described = []
    for place in places:
        owner, offset, end = owners.get(place), committed.get(place), ends.get(place)
        described.append(
            {
                "topic": place[0],
                "partition": place[1],
                "current_offset": offset,
                "log_end_offset": end,
                "lag": None if offset is None or end is None else max(end - offset, 0),
                "consumer_id": None if owner is None else owner.member_id,
                "host": None if owner is None else owner.host,
                "client_id": None if owner is None else owner.client_id,
            }
        )
    return described
