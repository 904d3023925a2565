"""Changes of groups: deleted, or moved to other offsets, also while brokers come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.clients.errors import ClientError, describe
from headwater.clients.raw.group_coordinator import wait_for_coordinator
from headwater.clients.retries import PASSING, retry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.clients.connection import Connection
    from headwater.clients.offset_plan import Planned


def delete_group(connection: Connection, group: str) -> None:
    """Delete a group; raises KafkaException as the client does."""
    from confluent_kafka import KafkaException

    is_repeated = False

    def ask() -> None:
        nonlocal is_repeated
        wait_for_coordinator(connection, group)
        (future,) = connection.admin.delete_consumer_groups([group]).values()
        try:
            connection.result(future)
        except KafkaException as failure:
            # The answer to the attempt that deleted it may have been lost.
            if is_repeated and failure.args[0].name() == "GROUP_ID_NOT_FOUND":
                return
            is_repeated = True
            raise

    retry(ask)


def move_group(connection: Connection, group: str, plan: Sequence[Planned]) -> None:
    """Commit the planned offsets for a group; raises ClientError for what is refused."""
    from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition

    wanted = [TopicPartition(one.topic, one.partition, one.new) for one in plan]

    def ask() -> list[TopicPartition]:
        wait_for_coordinator(connection, group)
        (future,) = connection.admin.alter_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group, wanted)]
        ).values()
        refused = [
            one for one in connection.result(future).topic_partitions if one.error is not None
        ]
        for one in refused:
            if one.error.name() in PASSING:
                raise KafkaException(one.error)
        return refused

    failed = retry(ask)
    if failed:
        raise ClientError(
            "\n".join(f"{one.topic}-{one.partition}: {describe(one.error)}" for one in failed)
        )
