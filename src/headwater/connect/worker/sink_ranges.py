"""What a sink reads next: ranges of its topics, as many records as are a good piece of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.connect.connectors.connector import TopicPartition

    Ranges = Mapping[TopicPartition, tuple[int, int]]

_MOST_BYTES = 32 << 20
_MOST_RECORDS = 500_000
# Before any were seen, they may be large.
_FIRST_RECORDS = 20_000


class BatchSize:
    """How many records a batch has at most, learnt from the bytes of the last one.

    >>> size = BatchSize()
    >>> size.is_learnt, size.records
    (False, 20000)
    >>> size.learn(records=20_000, size_in_bytes=20_000_000)
    >>> size.is_learnt, size.records
    (True, 33554)
    """

    def __init__(self) -> None:
        self.records = _FIRST_RECORDS
        self.is_learnt = False

    def learn(self, records: int, size_in_bytes: int) -> None:
        """Take note of a batch that was read."""
        if records:
            fitting = _MOST_BYTES * records // max(1, size_in_bytes)
            self.records = max(1, min(_MOST_RECORDS, fitting))
            self.is_learnt = True


class SinkRanges:
    """Goes through partitions topic by topic, each topic in its turn."""

    def __init__(self) -> None:
        self.positions: dict[TopicPartition, int] = {}
        self._last_topic = ""

    def take(self, ends: Mapping[TopicPartition, int], records: int) -> Ranges:
        """Return ranges of one topic that were not taken yet; none if there are none.

        >>> from headwater.connect.connectors.connector import TopicPartition
        >>> a, b = TopicPartition("a", 0), TopicPartition("b", 0)
        >>> ranges = SinkRanges()
        >>> ranges.positions |= {a: 5, b: 0}
        >>> [dict(ranges.take({a: 9, b: 1}, 3)) == each for each in ({a: (5, 8)}, {b: (0, 1)})]
        [True, True]
        >>> ranges.take({a: 9, b: 1}, 3) == {a: (8, 9)}, ranges.take({a: 9, b: 1}, 3)
        (True, {})
        """
        news = {each: end for each, end in ends.items() if self.positions[each] < end}
        if not news:
            return {}
        topics = sorted({each.topic for each in news})
        topic = next((each for each in topics if each > self._last_topic), topics[0])
        self._last_topic = topic
        partitions = [each for each in news if each.topic == topic]
        share = max(1, records // len(partitions))
        ranges = {
            each: (self.positions[each], min(news[each], self.positions[each] + share))
            for each in partitions
        }
        self.positions.update({each: end for each, (_, end) in ranges.items()})
        return ranges
