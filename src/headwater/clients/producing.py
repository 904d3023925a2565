"""Producers that say why a record was not taken: in the broker's words, or by looking at the topic.

librdkafka tries for as long as a record's time allows, and then says only that time ran out. With
a number of retries that runs out a little earlier it reports what the broker said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.clients.errors import ClientError, describe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from confluent_kafka import KafkaError
    from confluent_kafka.admin import TopicDescription

    from headwater.clients.connection import Connection

_TIMEOUT_NAMES = ("message.timeout.ms", "delivery.timeout.ms")
_RETRY_NAMES = ("message.send.max.retries", "retries")
# An idempotent producer's records may be lost in between if one gives up: it has to go on trying.
_ENDLESS = ("enable.idempotence", "transactional.id")
_LIBRDKAFKAS_TIMEOUT_MS = 300_000
# retry.backoff.ms, doubled up to retry.backoff.max.ms, and by how much each may be longer.
_FIRST_BACK_OFF_MS, _LONGEST_BACK_OFF_MS, _JITTER = 100, 1000, 1.2
# For the last answer to come back in.
_ANSWER_MS = 2000

_STORAGE, _NO_REPLICAS = "KAFKA_STORAGE_ERROR", "NOT_ENOUGH_REPLICAS"
_TIMED_OUT = ("_MSG_TIMED_OUT", "REQUEST_TIMED_OUT")


def telling_why(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a producer's settings, with retries that end before a record's time does."""
    chosen = dict(settings)
    if any(name in chosen for name in (*_RETRY_NAMES, *_ENDLESS)):
        return chosen
    given = next((chosen[name] for name in _TIMEOUT_NAMES if name in chosen), None)
    timeout_ms = _LIBRDKAFKAS_TIMEOUT_MS if given is None else int(given)
    return chosen | {_RETRY_NAMES[0]: _retries(timeout_ms)} if timeout_ms > 0 else chosen


def why_undelivered(connection: Connection, topic: str, error: KafkaError) -> str:
    """Return why records of a topic were not delivered; asks the cluster where nobody has said."""
    reason = describe(error)
    name = str(error.name())
    if name == _STORAGE:
        return f"{reason}. Is the broker's disk full? Its log has the cause"
    if name.startswith(_NO_REPLICAS) or name in _TIMED_OUT:
        return f"{reason}: {_state_of(connection, topic)}"
    return reason


def _retries(timeout_ms: int) -> int:
    """Return how many retries fit into the time, at least one.

    >>> _retries(30_000)
    25
    """
    left = (timeout_ms - _ANSWER_MS) / _JITTER
    retries, back_off = 0, _FIRST_BACK_OFF_MS
    while left >= back_off and back_off < _LONGEST_BACK_OFF_MS:
        left -= back_off
        back_off = min(2 * back_off, _LONGEST_BACK_OFF_MS)
        retries += 1
    return max(1, retries + int(max(left, 0) // _LONGEST_BACK_OFF_MS))


def _state_of(connection: Connection, topic: str) -> str:
    from confluent_kafka import KafkaException

    fresh = type(connection)(connection.access)  # the old client may still wait for a dead broker
    try:
        described = fresh.describe_topic(topic)
        wanted = _min_in_sync(fresh, topic)
    except ClientError as failure:
        return str(failure)
    except KafkaException as failure:
        return f"the cluster does not say how {topic} is ({describe(failure.args[0])})"
    return _partitions_at_fault(described, wanted) or (
        "all its partitions have leaders and enough replicas in sync now; the broker's log may say "
        "what was"
    )


def _partitions_at_fault(described: TopicDescription, wanted: int) -> str:
    faults = []
    for partition in described.partitions:
        where = f"{described.name}-{partition.id}"
        in_sync, replicas = len(partition.isr), len(partition.replicas)
        if partition.leader is None or partition.leader.id < 0:
            faults.append(f"{where} has no leader")
        elif in_sync < wanted:
            faults.append(
                f"{where} has {in_sync} of {replicas} replicas in sync, and "
                f"acks=all needs min.insync.replicas={wanted}"
            )
    return ", ".join(faults[:3]) + (f", and {len(faults) - 3} more" if len(faults) > 3 else "")


def _min_in_sync(connection: Connection, topic: str) -> int:
    from confluent_kafka.admin import ConfigResource, ResourceType

    resource = ConfigResource(ResourceType.TOPIC, topic)
    (future,) = connection.admin.describe_configs([resource]).values()
    return int(connection.result(future)["min.insync.replicas"].value)
