"""Real logs for tests: opened small, filled with keys and values, read back record by record."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headwater.log.compaction.clean_pass import clean_pass
from headwater.log.config import LogConfig
from headwater.log.log import Log
from headwater.log.records.batch import HEADER_SIZE, parse_header
from headwater.log.records.compression_type import CompressionType
from headwater.log.records.record import Record, decode_records, encode_batch

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from headwater.log.compaction.clean_job import CleanedGroup, CleanJob, CleanStats

NOW = 1_700_000_000_000
COMPACTED = frozenset({"compact"})


def compacted_config(**settings: Any) -> LogConfig:
    """Small segments and eager compaction, unless the test says otherwise."""
    return LogConfig(
        **{
            "cleanup_policy": COMPACTED,
            "segment_bytes": 2000,
            "min_cleanable_dirty_ratio": 0.0,
            "delete_retention_ms": 1000,
            "index_interval_bytes": 300,
            "file_delete_delay_ms": 0,
            **settings,
        }
    )


def open_log(directory: Path, config: LogConfig | None = None, **options: Any) -> Log:
    options = {"clean": False, "now_ms": NOW, **options}
    return Log.open(directory, config or compacted_config(), **options)


def append(
    log: Log,
    *pairs: tuple[str, str | None],
    now_ms: int = NOW,
    codec: CompressionType = CompressionType.NONE,
    **options: Any,
) -> list[Record]:
    """Append one batch; returns its records as they must come back."""
    base = log.log_end_offset
    records = [
        Record(
            base + delta,
            now_ms,
            key.encode(),
            None if value is None else value.encode(),
            (("n", b"%d" % (base + delta)),),
        )
        for delta, (key, value) in enumerate(pairs)
    ]
    batch = encode_batch(records, codec=codec, base_offset=base, **options)
    log.append(memoryview(batch), leader_epoch=0, now_ms=now_ms)
    return records


def read_log(log: Log, offset: int | None = None) -> list[Record]:
    """Read all records from an offset on as a consumer would, fetch by fetch."""
    offset = log.log_start_offset if offset is None else offset
    start = offset
    records: list[Record] = []
    while offset < log.log_end_offset:
        data = log.read(offset, 1 << 20, log.end).read()
        assert data, f"nothing at {offset} of {log!r}"
        position = 0
        while len(data) - position >= HEADER_SIZE:
            header = parse_header(data, position)
            if header.size > len(data) - position:
                break
            records += decode_records(data[position : position + header.size])
            position += header.size
            offset = header.next_offset
    return [record for record in records if record.offset >= start]


def state_of(records: Sequence[Record]) -> dict[bytes, bytes]:
    """What a table built from the records holds."""
    state: dict[bytes, bytes] = {}
    for record in records:
        assert record.key is not None
        if record.value is None:
            state.pop(record.key, None)
        else:
            state[record.key] = record.value
    return state


@dataclass
class Logs:
    """As much of a LogManager as the cleaner needs."""

    data_dir: Path
    logs: dict[tuple[str, int], Log] = field(default_factory=dict)

    def add(self, topic: str, config: LogConfig | None = None) -> Log:
        log = self.logs[topic, 0] = open_log(self.data_dir / f"{topic}-0", config)
        return log


class PassInThisProcess:
    """Runs a pass without a child process: quicker, and errors show where they come from."""

    def __init__(self, job: CleanJob) -> None:
        self.job = job

    def results(self) -> Generator[CleanedGroup | CleanStats]:
        yield from clean_pass(self.job)

    def kill(self) -> None:
        raise AssertionError("nobody kills a pass that blocks the test's own thread")
