"""The consumer group of a sink: what of its topics it has written, in Kafka's own offsets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import confluent_kafka as kafka
from confluent_kafka.admin import AdminClient, OffsetSpec

from headwater.clients.errors import describe
from headwater.connect.connectors.connector import RetriableError, TopicPartition

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_TIMEOUT_S = 30.0
_MOVED = "moved"
"""Stands beside an offset that somebody has set, until the sink was told."""


class SinkGroup:
    """Asks and commits; calls wait for Kafka, and raise RetriableError."""

    def __init__(self, client: Mapping[str, Any], connector: str) -> None:
        self.name = f"connect-{connector}"
        self._admin = AdminClient(dict(client))
        self._consumer = kafka.Consumer(
            {
                **client,
                "group.id": self.name,
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
            }
        )

    def close(self) -> None:
        """Close the connection."""
        self._consumer.close()

    def partitions(self, topics: Iterable[str], pattern: str) -> list[TopicPartition]:
        """Return the partitions of these topics, or of those that a regular expression matches."""
        names = set(topics)
        try:
            there = self._consumer.list_topics(timeout=_TIMEOUT_S).topics
        except kafka.KafkaException as failure:
            raise _failed("the topics are not known", failure) from None
        return sorted(
            TopicPartition(topic, number)
            for topic, about in there.items()
            if about.error is None
            and (topic in names or (pattern and re.fullmatch(pattern, topic)))
            for number in about.partitions
        )

    def committed(
        self, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, tuple[int, bool]]:
        """Return where to go on, and whether somebody has set it; not where nothing is known."""
        asked = [kafka.TopicPartition(*each) for each in partitions]
        if not asked:
            return {}
        try:
            found = self._consumer.committed(asked, timeout=_TIMEOUT_S)
        except kafka.KafkaException as failure:
            raise _failed("the offsets are not known", failure) from None
        return {
            TopicPartition(each.topic, each.partition): (each.offset, each.metadata == _MOVED)
            for each in found
            if each.offset >= 0
        }

    def commit(self, positions: Mapping[TopicPartition, int], *, moved: bool = False) -> None:
        """Store where to go on."""
        metadata = _MOVED if moved else ""
        offsets = [
            kafka.TopicPartition(each.topic, each.partition, offset, metadata)
            for each, offset in positions.items()
        ]
        try:
            done = self._consumer.commit(offsets=offsets, asynchronous=False)
        except kafka.KafkaException as failure:
            raise _failed("the offsets were not committed", failure) from None
        for each in done or ():
            if each.error is not None:
                raise RetriableError(f"the offsets were not committed: {describe(each.error)}")

    def delete(self) -> None:
        """Forget all of it."""
        try:
            self._admin.delete_consumer_groups([self.name])[self.name].result(_TIMEOUT_S)
        except kafka.KafkaException as failure:
            if failure.args[0].code() != kafka.KafkaError.GROUP_ID_NOT_FOUND:
                raise _failed("the offsets were not deleted", failure) from None

    def all(self) -> dict[TopicPartition, int]:
        """Return all that was committed."""
        request = [kafka.ConsumerGroupTopicPartitions(self.name)]
        try:
            found = self._admin.list_consumer_group_offsets(request)[self.name].result(_TIMEOUT_S)
        except kafka.KafkaException as failure:
            if failure.args[0].code() == kafka.KafkaError.GROUP_ID_NOT_FOUND:
                return {}
            raise _failed("the offsets are not known", failure) from None
        return {
            TopicPartition(each.topic, each.partition): each.offset
            for each in found.topic_partitions
            if each.offset >= 0
        }

    def starts(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Return where partitions begin."""
        return self._offsets(partitions, OffsetSpec.earliest())

    def ends(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Return where partitions end, for those who read what is committed."""
        return self._offsets(partitions, OffsetSpec.latest())

    def _offsets(
        self, partitions: Iterable[TopicPartition], spec: OffsetSpec
    ) -> dict[TopicPartition, int]:
        asked = {kafka.TopicPartition(*each): spec for each in partitions}
        if not asked:
            return {}
        futures = self._admin.list_offsets(
            asked,
            isolation_level=kafka.IsolationLevel.READ_COMMITTED,
            request_timeout=_TIMEOUT_S,
        )
        try:
            return {
                TopicPartition(each.topic, each.partition): future.result(_TIMEOUT_S).offset
                for each, future in futures.items()
            }
        except kafka.KafkaException as failure:
            raise _failed("the ends of the topics are not known", failure) from None


def _failed(what: str, failure: kafka.KafkaException) -> RetriableError:
    return RetriableError(f"{what}: {describe(failure.args[0])}")
