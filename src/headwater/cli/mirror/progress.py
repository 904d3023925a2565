"""How far MirrorMaker is behind: its own offsets next to the ends of the source's partitions."""

from __future__ import annotations

import json
import logging
import time
from typing import TYPE_CHECKING, NamedTuple

from headwater.clients.errors import ClientError

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message

    from headwater.clients.connection import Connection
    from headwater.cluster.mirror_maker import Flow

logger = logging.getLogger("headwater")

_EVERY_S = 5.0
_AT_ONCE = 1_000
_READ_WITHIN_S = 0.1
_COPIES = "MirrorSourceConnector"


class Lag(NamedTuple):
    """What MirrorMaker copies, and how many records of it are not in the target yet."""

    topics: int
    partitions: int
    records: int

    def __str__(self) -> str:
        """Say it in a line.

        >>> str(Lag(1, 3, 1200)), str(Lag(2, 2, 0))
        ('1 topic, 3 partitions, 1,200 records behind', '2 topics, 2 partitions, nothing behind')
        """
        behind = _counted(self.records, "record") if self.records else "nothing"
        return (
            f"{_counted(self.topics, 'topic')}, {_counted(self.partitions, 'partition')},"
            f" {behind} behind"
        )


class CopiedOffsets:
    """Follows the topic in the target in which MirrorMaker writes what it has copied."""

    def __init__(self, flow: Flow, target: Connection) -> None:
        self._topic = f"mm2-offsets.{flow.source}.internal"
        self._target = target
        self._consumer: Consumer | None = None
        self._next: dict[tuple[str, int], int] = {}

    def read(self) -> dict[tuple[str, int], int]:
        """Return the offset after the last copied record of each of the source's partitions."""
        if self._consumer is None:
            self._consumer = self._follow()
        while self._consumer is not None:
            messages = self._consumer.consume(_AT_ONCE, _READ_WITHIN_S)
            for message in messages:
                self._take(message)
            if len(messages) < _AT_ONCE:
                break
        return self._next

    def close(self) -> None:
        """Leave the target."""
        if self._consumer is not None:
            self._consumer.close()

    def _follow(self) -> Consumer | None:
        from confluent_kafka import OFFSET_BEGINNING, TopicPartition

        found = self._target.find_topic(self._topic)
        if found is None:  # MirrorMaker makes it in its own time
            return None
        consumer = self._target.consumer({"group.id": "headwater-mirror"})
        consumer.assign(
            [TopicPartition(self._topic, each.id, OFFSET_BEGINNING) for each in found.partitions]
        )
        return consumer

    def _take(self, message: Message) -> None:
        key, value = message.key(), message.value()
        if message.error() is not None or key is None:
            return
        connector, place = json.loads(key)
        if connector != _COPIES:
            return
        partition = place["topic"], int(place["partition"])
        if value is None:
            self._next.pop(partition, None)
        else:
            self._next[partition] = json.loads(value)["offset"] + 1


class Progress:
    """Logs how far MirrorMaker is in one direction, whenever that has changed."""

    def __init__(self, flow: Flow, source: Connection, target: Connection) -> None:
        self._flow = flow
        self._source = source
        self._copied = CopiedOffsets(flow, target)
        self._said = ""
        self._again_at = 0.0

    def tell(self) -> None:
        """Log the lag if it is time to look, and if it is another one than before."""
        if time.monotonic() < self._again_at:
            return
        try:
            said = self._described()
        except ClientError as failure:
            said = f"how far it is could not be asked: {failure}"
        if said not in ("", self._said):
            logger.info("%s: %s", self._flow, said)
            self._said = said
        self._again_at = time.monotonic() + _EVERY_S

    def lag(self) -> Lag:
        """Compare what was copied with what there is."""
        from confluent_kafka.admin import OffsetSpec

        copied = self._copied.read()
        topics = sorted({topic for topic, _ in copied})
        places = [
            (topic, partition.id)
            for topic in topics
            if (found := self._source.find_topic(topic)) is not None
            for partition in found.partitions
        ]
        starts = self._source.offsets(places, OffsetSpec.earliest())
        ends = self._source.offsets(places, OffsetSpec.latest())
        behind = sum(
            max(0, ends[place] - max(copied.get(place, 0), starts[place])) for place in places
        )
        return Lag(len(topics), len(places), behind)

    def close(self) -> None:
        """Leave both clusters."""
        self._copied.close()

    def _described(self) -> str:
        lag = self.lag()
        return str(lag) if lag.partitions else ""


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
