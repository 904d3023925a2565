"""Records of a topic: a page of them, newest first or from a position on, with filters.

A page ends where it has enough, where the topic ends, or where it has looked at so much that a
person should say whether to go on. Its cursor says where the next one starts, by partition.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from headwater.clients.start_position import StartPosition
from headwater.console.model.records.filters import Filter
from headwater.console.model.records.record_windows import Window, WindowReading, window_reader
from headwater.serde.context import Context

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from confluent_kafka import Consumer, Message

    from headwater.console.model.cluster import Cluster
    from headwater.console.model.records.decoding import Decoded, Decoder
    from headwater.console.model.records.masks import Masks

NEWEST = "newest"
PAGE_SIZE = 50
MOST_SECONDS = 8.0
MOST_BYTES = 64 * 1024 * 1024


class Record(NamedTuple):
    """A record as a person reads it."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: Decoded
    value: Decoded
    headers: tuple[tuple[str, Decoded], ...]


@dataclass(frozen=True)
class Query:
    """Which records a person wants to see, as it stands in a page's address."""

    topic: str
    start: str = NEWEST
    """`newest`, or a position as `headwater consume --offset` takes it."""
    partition: int | None = None
    contains: str = ""
    where: str = ""
    columns: str = ""
    """Fields that are shown in place of key and value, with commas between them."""
    cursor: str = ""
    """Where the page before has ended, as `PARTITION-OFFSET` with dots between them."""
    limit: int = PAGE_SIZE

    @property
    def is_newest_first(self) -> bool:
        """Whether it goes from the end backwards."""
        return self.start == NEWEST


@dataclass(frozen=True)
class RecordPage:
    """Records, how many were looked at for them, and where the next page starts."""

    records: Sequence[Record]
    scanned: int
    cursor: str
    """Empty at the end."""
    is_unfinished: bool
    """Whether there may be more of them in what was not looked at."""


class Records:
    """Reads records; all methods block."""

    def __init__(self, cluster: Cluster, decoder: Decoder, masks: Masks, scan_records: int) -> None:
        self._cluster = cluster
        self._decoder = decoder
        self._masks = masks
        self._scan_records = scan_records

    def page(self, query: Query) -> RecordPage:
        """Return a page; raises ClientError, and ValueError for what cannot be understood."""
        wanted = Filter.parse(query.contains, query.where)
        spans = self._spans(query)
        return _Search(query, wanted, spans, self._scan_records, self._cluster, self).page()

    def decode(self, message: Message) -> Record:
        """Return a message as a record, without what nobody is to see."""
        topic = message.topic()
        record = Record(
            topic,
            message.partition(),
            message.offset(),
            message.timestamp()[1],
            self._decoder.decode(message, "key"),
            self._decoder.decode(message, "value"),
            tuple(
                (name, self._decoder.decode_bytes(value, Context(topic)))
                for name, value in message.headers() or ()
            ),
        )
        return self._masks.hide(record) if self._masks else record

    def _spans(self, query: Query) -> dict[int, Window]:
        """Return what may be looked at of each partition."""
        is_whole = query.is_newest_first or bool(query.cursor)
        start = StartPosition("earliest") if is_whole else StartPosition.parse(query.start)
        connection = self._cluster.connection
        described = connection.describe_topic(query.topic)
        chosen = [
            each.id
            for each in described.partitions
            if query.partition in (None, each.id) and each.leader is not None
        ]
        if not chosen:
            which = "" if query.partition is None else f" {query.partition}"
            raise ValueError(f"topic '{query.topic}' has no partition{which} that can be read")
        found = start.resolve(connection, query.topic, chosen)
        spans = {index: Window(span.start, span.end) for index, span in found.items()}
        return _continued(query, spans) if query.cursor else spans


@dataclass
class _Search:
    """One search on its way."""

    query: Query
    wanted: Filter
    left: dict[int, Window]
    """What was not looked at yet."""
    most_records: int
    cluster: Cluster
    records: Records
    found: dict[int, list[Record]] = field(default_factory=dict)
    scanned: int = 0
    scanned_bytes: int = 0

    def page(self) -> RecordPage:
        deadline = time.monotonic() + MOST_SECONDS
        step = self._first_step()
        with window_reader(self.cluster.connection) as consumer:
            while any(self.left.values()) and not self._has_enough():
                windows = {
                    index: self._next(window, step) for index, window in self.left.items() if window
                }
                self._read(consumer, windows, deadline)
                step *= 2
                if (
                    self.scanned >= self.most_records
                    or self.scanned_bytes >= MOST_BYTES
                    or time.monotonic() > deadline
                ):
                    break
        return self._page()

    def _read(self, consumer: Consumer, windows: dict[int, Window], deadline: float) -> None:
        reading = WindowReading(self.query.topic, windows, deadline)
        found: dict[int, list[Record]] = {}
        for message in reading.messages(consumer):
            self.scanned += 1
            self.scanned_bytes += len(message.value() or b"") + len(message.key() or b"")
            record = self.records.decode(message)
            if self.wanted.takes(record):
                found.setdefault(record.partition, []).append(record)
        # What was not read to its end is read again, by whoever goes on.
        for index in windows.keys() - reading.unfinished:
            self.found.setdefault(index, []).extend(found.get(index, ()))
            self.left[index] = self._after(self.left[index], windows[index])

    def _first_step(self) -> int:
        share = max(1, self.most_records // max(len(self.left), 1))
        most = self.query.limit if self.wanted.is_empty else max(self.query.limit, 1000)
        return min(most, share)

    def _has_enough(self) -> bool:
        return sum(map(len, self.found.values())) >= self.query.limit

    def _next(self, window: Window, step: int) -> Window:
        if self.query.is_newest_first:
            return Window(max(window.start, window.end - step), window.end)
        return Window(window.start, min(window.end, window.start + step))

    def _after(self, window: Window, read: Window) -> Window:
        if self.query.is_newest_first:
            return Window(window.start, read.start)
        return Window(read.end, window.end)

    def _page(self) -> RecordPage:
        sign = -1 if self.query.is_newest_first else 1
        # Records of a partition stay in its order, whatever their timestamps say.
        in_order = [sorted(each, key=lambda r: sign * r.offset) for each in self.found.values()]
        merged = list(heapq.merge(*in_order, key=lambda record: sign * record.timestamp_ms))
        shown, held_back = merged[: self.query.limit], merged[self.query.limit :]
        ends = {
            index: (window.end if self.query.is_newest_first else window.start)
            for index, window in self.left.items()
        }
        for record in reversed(held_back):
            ends[record.partition] = record.offset + (1 if self.query.is_newest_first else 0)
        has_more = bool(held_back) or any(self.left.values())
        cursor = ".".join(f"{index}-{offset}" for index, offset in sorted(ends.items()))
        is_unfinished = has_more and len(shown) < self.query.limit
        return RecordPage(shown, self.scanned, cursor if has_more else "", is_unfinished)


def _continued(query: Query, spans: Mapping[int, Window]) -> dict[int, Window]:
    try:
        cursor = {
            int(index): int(offset)
            for index, _, offset in (part.partition("-") for part in query.cursor.split("."))
        }
    except ValueError:
        raise ValueError(f"'{query.cursor}' is no cursor of a page") from None
    continued = {}
    for index, span in spans.items():
        at = cursor.get(index)
        if at is None:  # a partition that is new since
            continued[index] = span
        elif query.is_newest_first:
            continued[index] = Window(span.start, min(at, span.end))
        else:
            continued[index] = Window(max(at, span.start), span.end)
    return continued
