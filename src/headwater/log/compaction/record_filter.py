"""Decide what compaction keeps of a batch, and build what is left of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.log.records.batch import (
    CODEC_MASK,
    DELETE_HORIZON_BIT,
    TIMESTAMP_TYPE_BIT,
    BatchHeader,
)
from headwater.log.records.compression_type import CompressionType
from headwater.log.records.record import (
    NO_TIMESTAMP,
    assemble_batch,
    compressed_records,
    uncompressed_records,
)
from headwater.log.records.record_scan import rebase_timestamp, scan_records, timestamp_delta

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.log.compaction.cleaned_transactions import CleanedTransactions
    from headwater.log.compaction.offset_map import OffsetMap
    from headwater.log.records.batch import Buffer
    from headwater.log.records.record_scan import ScannedRecord


class LastRecord(NamedTuple):
    """The last thing an active producer wrote: its last data offset (-1: none) and its epoch."""

    last_offset: int
    producer_epoch: int


class Kept(NamedTuple):
    """What is left of a batch, ready to be written."""

    batch: Buffer
    header: BatchHeader
    records: int


class RecordFilter:
    """Applies the rules of one pass to one batch after another, in the order of the log.

    A batch keeps its first and last offset whatever goes, so that sequence numbers still fit.
    """

    def __init__(
        self,
        offset_map: OffsetMap,
        transactions: CleanedTransactions,
        *,
        now_ms: int,
        delete_retention_ms: int,
        upper_offset: int,
        active_producers: Mapping[int, LastRecord],
    ) -> None:
        self._map = offset_map
        self._transactions = transactions
        self._now_ms = now_ms
        self._new_horizon = now_ms + delete_retention_ms
        self._upper_offset = upper_offset
        self._active_producers = active_producers

    def apply(self, batch: Buffer, header: BatchHeader) -> Kept | None:
        """What to write in the place of a batch, the batch itself if nothing changes."""
        if header.is_control:
            return self._apply_to_marker(batch, header)
        if self._transactions.is_aborted(header):
            return self._emptied(header)
        records = uncompressed_records(batch, header)
        scanned = scan_records(records, header.record_count)
        kept = self._map.latest_of(header.base_offset, scanned)
        tombstones = any(record[4] for record in kept)
        if tombstones and header.has_delete_horizon and header.base_timestamp <= self._now_ms:
            kept = [
                record
                for record in kept
                if not record[4] or header.base_offset + record[2] > self._map.latest_offset
            ]
        if not kept:
            return self._emptied(header)
        if tombstones and not header.has_delete_horizon:
            return self._with_horizon(header, records, kept)
        if len(kept) == len(scanned):
            return Kept(batch, header, len(kept))
        return _partial(header, records, kept)

    def _apply_to_marker(self, batch: Buffer, header: BatchHeader) -> Kept | None:
        if not self._transactions.is_marker_of_nothing(header, batch):
            return Kept(batch, header, header.record_count)
        if not header.record_count:
            return self._emptied(header)
        if not header.has_delete_horizon:
            records = uncompressed_records(batch, header)
            return self._with_horizon(header, records, scan_records(records, header.record_count))
        if header.base_timestamp > self._now_ms:
            return Kept(batch, header, header.record_count)
        return self._emptied(header)

    def _emptied(self, header: BatchHeader) -> Kept | None:
        """Nothing, or a batch without records where its offsets or sequences are still needed."""
        # The last batch of the section tells where the section ends.
        if header.next_offset != self._upper_offset and not self._is_last_of_producer(header):
            return None
        empty = header._replace(
            attributes=header.attributes & ~(CODEC_MASK | DELETE_HORIZON_BIT),
            base_timestamp=NO_TIMESTAMP,
            record_count=0,
        )
        return Kept(assemble_batch(empty, b""), empty, 0)

    def _is_last_of_producer(self, header: BatchHeader) -> bool:
        last = self._active_producers.get(header.producer_id)
        if last is None or header.producer_id < 0:
            return False
        if last.last_offset >= 0:
            return header.last_offset == last.last_offset
        # Only the marker is left to fence producers with an older epoch.
        return header.is_control and header.producer_epoch == last.producer_epoch

    def _with_horizon(self, header: BatchHeader, records: bytes, kept: list[ScannedRecord]) -> Kept:
        output = bytearray()
        change = header.base_timestamp - self._new_horizon
        for start, end, *_ in kept:
            rebase_timestamp(output, records, start, end, change)
        rebased = header._replace(
            attributes=header.attributes | DELETE_HORIZON_BIT,
            base_timestamp=self._new_horizon,
            max_timestamp=_max_timestamp(header, records, kept),
        )
        return _rebuilt(rebased, bytes(output), len(kept))


def _partial(header: BatchHeader, records: bytes, kept: list[ScannedRecord]) -> Kept:
    # Deltas count from the batch's base, which stays, so the bytes of a record stay as well.
    output = b"".join([records[start:end] for start, end, *_ in kept])
    return _rebuilt(
        header._replace(max_timestamp=_max_timestamp(header, records, kept)), output, len(kept)
    )


def _rebuilt(header: BatchHeader, records: bytes, count: int) -> Kept:
    header = header._replace(record_count=count)
    payload = compressed_records(records, CompressionType(header.codec))
    return Kept(assemble_batch(header, payload), header, count)


def _max_timestamp(header: BatchHeader, records: bytes, kept: list[ScannedRecord]) -> int:
    if header.attributes & TIMESTAMP_TYPE_BIT:
        return header.max_timestamp
    return header.base_timestamp + max(timestamp_delta(records, start) for start, *_ in kept)
