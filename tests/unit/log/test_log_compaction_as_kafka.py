"""The same log compacted by Apache Kafka 4.3.1 and by us.

`before` has batches in all codecs, tombstones, idempotent producers and transactions, committed
and aborted; `after` is what Kafka's cleaner made of it.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from tests.unit.log.segment_files import clean, read_batches, segment_bases

from headwater.log.compaction.record_filter import LastRecord
from headwater.log.dump import dump_file
from headwater.log.dump_lines import AbortedTransactionLine
from headwater.log.indexes.txn_index import AbortedTxn
from headwater.log.producers.producer_snapshot import read_snapshot
from headwater.log.records.record import Record, decode_records

if TYPE_CHECKING:
    from headwater.log.records.batch import BatchHeader

BEFORE, AFTER = (
    Path(__file__).with_name("kafka_compaction") / name for name in ("before", "after")
)
RETENTION = 3_600_000
UPPER_OFFSET = 168


def comparable(directory: Path) -> list[tuple[BatchHeader, tuple[Record, ...]]]:
    """All but what depends on the compressor, and a base timestamp that is only a base."""
    return [
        (
            header._replace(
                batch_length=0,
                crc=0,
                base_timestamp=header.base_timestamp if header.has_delete_horizon else 0,
            ),
            tuple(decode_records(batch)),
        )
        for header, batch in read_batches(directory)
    ]


def aborted(directory: Path) -> list[AbortedTxn]:
    return [
        AbortedTxn(line.producer_id, line.first_offset, line.last_offset, line.last_stable_offset)
        for path in sorted(directory.glob("*.txnindex"))
        for line in dump_file(path)
        if isinstance(line, AbortedTransactionLine)
    ]


def test_we_make_of_it_what_kafka_makes_of_it(tmp_path: Path) -> None:
    shutil.copytree(BEFORE, tmp_path, dirs_exist_ok=True)
    (snapshot,) = BEFORE.glob("*.snapshot")
    active = {
        entry.producer_id: LastRecord(
            entry.batches[-1].last_offset if entry.batches else -1, entry.epoch
        )
        for entry in read_snapshot(snapshot)
    }
    horizons = {
        header.base_timestamp for header, _ in read_batches(AFTER) if header.has_delete_horizon
    }
    (horizon,) = horizons
    stats = clean(
        tmp_path,
        UPPER_OFFSET,
        now_ms=horizon - RETENTION,
        delete_retention_ms=RETENTION,
        active_producers=active,
        aborted=tuple(aborted(BEFORE)),
    )
    assert stats.end_offset == UPPER_OFFSET
    assert segment_bases(tmp_path) == segment_bases(AFTER)
    assert comparable(tmp_path) == comparable(AFTER)
    assert len(aborted(AFTER)) > 5
    assert aborted(tmp_path) == aborted(AFTER)
    times = f"{0:020d}.timeindex"
    assert (tmp_path / times).read_bytes() == (AFTER / times).read_bytes()
