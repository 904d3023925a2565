"""What the stateful operators must give, in plain Python: Kafka Streams' rules."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True)
class Record:
    """A record of a source partition; of the table, or of the stream, which comes second."""

    key: str
    value: int | None
    time: int
    offset: int
    partition: int = 0
    of_stream: bool = True


def in_order(batch: Iterable[Record]) -> list[Record]:
    """Take partitions as queues; the one whose first record is oldest comes next."""
    queues: dict[tuple[bool, int], list[Record]] = defaultdict(list)
    for record in sorted(batch, key=lambda each: each.offset):
        queues[record.of_stream, record.partition].append(record)
    ordered = []
    while waiting := [name for name, queue in queues.items() if queue]:
        ordered.append(queues[min(waiting, key=lambda name: (queues[name][0].time, name))].pop(0))
    return ordered


def joined(
    batches: Sequence[Sequence[Record]], *, left: bool
) -> dict[str, list[tuple[int | None, int | None]]]:
    """For each key, the stream's values with what the table had when they came."""
    table: dict[str, int] = {}
    results: dict[str, list[tuple[int | None, int | None]]] = defaultdict(list)
    for key, record in _by_key(batches):
        if record.of_stream:
            if left or key in table:
                results[key].append((record.value, table.get(key)))
        elif record.value is None:
            table.pop(key, None)
        else:
            table[key] = record.value
    return dict(results)


def table_changes(
    batches: Sequence[Sequence[Record]],
) -> dict[str, list[tuple[int | None, int | None]]]:
    """For each key, the values in order, each with the one that it replaces."""
    table: dict[str, int | None] = {}
    results: dict[str, list[tuple[int | None, int | None]]] = defaultdict(list)
    for key, record in _by_key(batches):
        results[key].append((record.value, table.get(key)))
        table[key] = record.value
    return dict(results)


Aggregates = tuple[int, int | None, int | None, int | None]


def aggregated(batches: Sequence[Sequence[Record]]) -> dict[str, list[Aggregates]]:
    """For each key: count, sum, minimum and last value after each record."""
    seen: dict[str, list[int | None]] = defaultdict(list)
    results: dict[str, list[Aggregates]] = defaultdict(list)
    for key, record in _by_key(batches):
        seen[key].append(record.value)
        results[key].append(_aggregates(seen[key]))
    return dict(results)


def windowed(
    batches: Sequence[Sequence[Record]], size: int, advance: int, grace: int
) -> dict[str, list[tuple[int, int | None]]]:
    """For each key: the window's start and its count, None for a record that came too late.

    Windows are closed by the key's own records, and by all records of the batches before.
    """
    counts: dict[tuple[str, int], int] = defaultdict(int)
    clocks: dict[str, int] = {}
    results: dict[str, list[tuple[int, int | None]]] = defaultdict(list)
    watermark = 0
    for batch in batches:
        for key, record in _by_key([batch]):
            clocks[key] = max(clocks.get(key, 0), record.time)
            for start in range(0, record.time + 1, advance):
                if start + size <= record.time:
                    continue
                if start + size + grace <= max(clocks[key], watermark):
                    results[key].append((start, None))
                else:
                    counts[key, start] += 1
                    results[key].append((start, counts[key, start]))
        watermark = max([watermark, *(record.time for record in batch)])
    return dict(results)


def _aggregates(values: Sequence[int | None]) -> Aggregates:
    present = [value for value in values if value is not None]
    total = sum(present) if present else None
    return len(values), total, min(present, default=None), values[-1]


def _by_key(batches: Sequence[Sequence[Record]]) -> Iterable[tuple[str, Record]]:
    for batch in batches:
        for key in sorted({record.key for record in batch}):
            for record in in_order(each for each in batch if each.key == key):
                yield key, record
