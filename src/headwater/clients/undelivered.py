"""Why records were not delivered: the broker's words, or what is wrong with their topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.clients.connection import Connection
from headwater.clients.errors import ClientError, describe

if TYPE_CHECKING:
    from confluent_kafka import KafkaError
    from confluent_kafka.admin import TopicDescription

_STORAGE, _NO_REPLICAS = "KAFKA_STORAGE_ERROR", "NOT_ENOUGH_REPLICAS"
_TIMED_OUT = ("_MSG_TIMED_OUT", "REQUEST_TIMED_OUT")


def why_undelivered(connection: Connection, topic: str, error: KafkaError) -> str:
    """Return why records of a topic were not delivered; asks the cluster where nobody has said."""
    reason = describe(error)
    name = str(error.name())
    if name == _STORAGE:
        return f"{reason}. Is the broker's disk full? Its log has the cause"
    if name.startswith(_NO_REPLICAS) or name in _TIMED_OUT:
        return f"{reason}: {_state_of(connection, topic)}"
    return reason


def _state_of(connection: Connection, topic: str) -> str:
    from confluent_kafka import KafkaException

    fresh = Connection(connection.access)  # the old client may still wait for a dead broker
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
