"""What a pass of compaction is told and what it reports, as values that travel as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

from headwater.log.compaction.offset_map import LOAD_FACTOR
from headwater.log.compaction.record_filter import LastRecord
from headwater.log.indexes.txn_index import AbortedTxn


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanJob:
    """A section of a log to compact: its segments up to `upper_offset`, which starts the next.

    Everything from `first_dirty_offset` on was not compacted before.

    `active_producers` has, for each producer that may still write, where its last data is. The
    batch there survives without its records, since it holds the producer's sequence number.

    `aborted` lists the aborted transactions with a marker in the section. Without such a list
    (None) markers are kept for ever, and records of transactions replace nothing.
    """

    directory: str
    segments: tuple[int, ...]
    first_dirty_offset: int
    upper_offset: int
    now_ms: int
    delete_retention_ms: int
    segment_bytes: int
    segment_index_bytes: int
    index_interval_bytes: int
    map_memory: int
    load_factor: float = LOAD_FACTOR
    bytes_per_second: float | None = None
    active_producers: dict[int, LastRecord] = field(default_factory=dict)
    aborted: tuple[AbortedTxn, ...] | None = None

    def to_json(self) -> str:
        """Write the job in one line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> CleanJob:
        """Read what `to_json` wrote."""
        values = json.loads(text)
        values["segments"] = tuple(values["segments"])
        values["active_producers"] = {
            int(producer_id): LastRecord(*last)
            for producer_id, last in values["active_producers"].items()
        }
        if values["aborted"] is not None:
            values["aborted"] = tuple(AbortedTxn(*txn) for txn in values["aborted"])
        return cls(**values)


@dataclass(frozen=True, slots=True)
class CleanedGroup:
    """Segments whose successor is ready; its `.cleaned` files have the first one's name."""

    segments: tuple[int, ...]
    bytes_before: int
    bytes_after: int


@dataclass(frozen=True, slots=True)
class CleanStats:
    """How a pass went. `end_offset` is where the next one finds the first uncompacted record."""

    end_offset: int
    bytes_read: int
    bytes_written: int
    records_read: int
    records_kept: int
    map_utilization: float
    seconds: float
