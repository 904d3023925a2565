"""Progress of queries in a topic, beside their checkpoints: what a program goes on from elsewhere.

The topic is written by our source in the JVM, see `ProgressCopy` there, and has the last state of
each query under its name.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.clients.connection import REQUEST_WITHIN_S, Connection
from headwater.clients.errors import ClientError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from headwater.clients import ClusterAccess

PROGRESS_TOPIC = "_headwater_progress"
_MARKERS = "_headwater_sink_commits"
_VERSION = 1


@dataclass(frozen=True)
class QueryProgressCopy:
    """The files of a query's checkpoint that say how far it has come, as Spark wrote them."""

    metadata: str
    sources: Mapping[str, str]
    """Where each source began."""
    offsets: Mapping[int, str]
    """The last batches that were planned."""
    commits: Mapping[int, str]
    """The last batch that is done."""

    @classmethod
    def of(cls, text: bytes) -> QueryProgressCopy:
        """Read a record of the topic."""
        read = json.loads(text)
        if read["version"] != _VERSION:
            raise ClientError(
                f"the topic {PROGRESS_TOPIC} was written by another version of Headwater "
                f"({read['version']}, and here it is {_VERSION}): go on with that one"
            )
        offsets, commits = (
            {int(number): str(file) for number, file in read[part].items()}
            for part in ("offsets", "commits")
        )
        return cls(read["metadata"], read["sources"], offsets, commits)

    @property
    def checkpoint_id(self) -> str:
        """The name that Spark has given the checkpoint."""
        return str(json.loads(self.metadata)["id"])

    @property
    def planned(self) -> int:
        """The last batch that may have been begun; -1 before the first."""
        return max(self.offsets, default=-1)

    @property
    def done(self) -> int:
        """The last batch that Spark knows to be done; -1 before the first."""
        return max(self.commits, default=-1)


class ProgressTopic:
    """The progress of one program's queries."""

    def __init__(self, access: ClusterAccess, app: str) -> None:
        self._connection = Connection(access)
        self._app = app

    def read(self) -> dict[str, QueryProgressCopy]:
        """Return what there is, by the queries' names."""
        found: dict[str, QueryProgressCopy] = {}
        prefix = f"{self._app}: "
        for key, value in self._records():
            name = key.removeprefix(prefix)
            if name == key:
                continue
            if value is None:
                found.pop(name, None)
            else:
                found[name] = QueryProgressCopy.of(value)
        return found

    def forget(self, queries: Collection[str]) -> None:
        """Delete what there is of these."""
        if not queries:
            return
        producer = self._connection.producer({"acks": "all"})
        for query in queries:
            producer.produce(PROGRESS_TOPIC, None, f"{self._app}: {query}")
        if producer.flush(REQUEST_WITHIN_S):
            raise ClientError(
                f"the progress of {self._app!r} in {PROGRESS_TOPIC} could not be deleted at "
                f"{self._connection.bootstrap_servers}: try again"
            )

    def tasks_written(self, query: str, progress: QueryProgressCopy) -> tuple[int, int]:
        """Return how many tasks of the last planned batch are in its topic, and of how many.

        That is known of exactly-once writes, whose transactions record it.
        """
        from confluent_kafka import ConsumerGroupTopicPartitions

        group = f"{self._app}-{query}"
        (answer,) = self._connection.admin.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group)], require_stable=True
        ).values()
        written, of = 0, 0
        for place in self._connection.result(answer).topic_partitions:
            parts = (place.metadata or "").split(" ", 3)
            if place.topic != _MARKERS or place.partition == 0 or len(parts) < 4:
                continue
            if parts[3] == progress.checkpoint_id and place.offset - 1 == progress.planned:
                written, of = written + 1, int(parts[1])
        return written, of

    def _records(self) -> list[tuple[str, bytes | None]]:
        from confluent_kafka import OFFSET_BEGINNING, KafkaError, TopicPartition

        if PROGRESS_TOPIC not in self._connection.topic_names():
            return []
        consumer = self._connection.consumer({"enable.partition.eof": True})
        found: list[tuple[str, bytes | None]] = []
        try:
            consumer.assign([TopicPartition(PROGRESS_TOPIC, 0, OFFSET_BEGINNING)])
            while True:
                message: Any = consumer.poll(REQUEST_WITHIN_S)
                if message is None:
                    raise ClientError(
                        f"{PROGRESS_TOPIC} cannot be read at {self._connection.bootstrap_servers}"
                    )
                if message.error() is None:
                    found.append((message.key().decode(), message.value()))
                elif message.error().code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - its name
                    return found
                else:
                    raise ClientError(f"{PROGRESS_TOPIC} cannot be read: {message.error().str()}")
        finally:
            consumer.close()
