"""The cluster's topics, as statements ask for them: found, made and deleted. All of it blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.clients.connection import REQUEST_WITHIN_S, Connection
from headwater.clients.errors import ClientError, describe
from headwater.sql.errors import SqlError
from headwater.sql.server.topics.readers import readers_by_topic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.clients import ClusterAccess
    from headwater.sql.server.topics.readers import Readers


class Topic(NamedTuple):
    """A topic of the cluster."""

    name: str
    partitions: int
    replicas: int


class Topics:
    """Asks a cluster; raises SqlError for what it does not do."""

    def __init__(self, access: ClusterAccess) -> None:
        self._connection = Connection(access.for_admin())

    def all(self) -> dict[str, Topic]:
        """Return all topics by name, internal ones included."""
        from confluent_kafka import KafkaException

        try:
            found = self._connection.admin.list_topics(timeout=REQUEST_WITHIN_S).topics
        except (ClientError, KafkaException) as failure:
            raise SqlError(f"Kafka does not say which topics there are: {_why(failure)}") from None
        return {
            name: Topic(
                name,
                len(topic.partitions),
                max((len(each.replicas) for each in topic.partitions.values()), default=0),
            )
            for name, topic in found.items()
        }

    def readers(self) -> dict[str, Readers]:
        """Return who reads each topic that somebody reads."""
        from confluent_kafka import KafkaException

        try:
            return readers_by_topic(self._connection)
        except (ClientError, KafkaException) as failure:
            raise SqlError(f"Kafka does not say which groups there are: {_why(failure)}") from None

    def create(
        self, name: str, partitions: int, replicas: int | None, config: Mapping[str, str]
    ) -> None:
        """Make a topic, unless it is there."""
        from confluent_kafka.admin import NewTopic

        new = NewTopic(
            name,
            num_partitions=partitions,
            replication_factor=-1 if replicas is None else replicas,
            config=dict(config),
        )
        (future,) = self._connection.admin.create_topics([new]).values()
        self._settle(future, f"the topic {name} cannot be created", "TOPIC_ALREADY_EXISTS")

    def delete(self, name: str) -> None:
        """Delete a topic, if it is there."""
        (future,) = self._connection.admin.delete_topics([name]).values()
        self._settle(future, f"the topic {name} cannot be deleted", "UNKNOWN_TOPIC_OR_PART")

    def ends(self, name: str) -> dict[int, int]:
        """Return where a topic ends now, by partition."""
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import OffsetSpec

        try:
            found = self._connection.describe_topic(name)
            places = [(name, partition.id) for partition in found.partitions]
            ends = self._connection.offsets(places, OffsetSpec.latest())
        except (ClientError, KafkaException) as failure:
            raise SqlError(f"Kafka does not say where {name} ends: {_why(failure)}") from None
        return {partition: offset for (_, partition), offset in ends.items()}

    def _settle(self, future: object, what: str, fine: str) -> None:
        from confluent_kafka import KafkaException

        try:
            self._connection.result(future)  # type: ignore[arg-type]
        except KafkaException as failure:
            if failure.args[0].name() != fine:
                raise SqlError(f"{what}: {describe(failure.args[0])}") from None
        except ClientError as failure:
            raise SqlError(f"{what}: {failure}") from None


def _why(failure: Exception) -> str:
    from confluent_kafka import KafkaException

    return describe(failure.args[0]) if isinstance(failure, KafkaException) else str(failure)
