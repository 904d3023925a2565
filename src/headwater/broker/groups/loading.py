"""Reads a shard back from its partition of `__consumer_offsets`.

Only the last record of each key counts, so that all others are skipped without a look at their
values. What compaction has not got to yet thus costs little.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.groups.classic.group import ClassicGroup
from headwater.broker.groups.classic.records import (
    GROUP_METADATA_KEY_VERSION,
    decode_group_metadata,
)
from headwater.broker.groups.consumer.group import ConsumerGroup
from headwater.broker.groups.consumer.records import (
    PARTITION_METADATA_KEY_VERSION,
    decode_change,
)
from headwater.broker.groups.offsets.records import (
    LEGACY_OFFSET_KEY_VERSION,
    OFFSET_KEY_VERSION,
    CommittedOffset,
    OffsetKey,
    decode_offset_key,
    decode_offset_value,
)
from headwater.broker.groups.record_fields import FieldReader
from headwater.log.errors import CorruptBatch
from headwater.log.records.end_txn_marker import decode_marker
from headwater.log.records.record import uncompressed_records
from headwater.log.records.record_scan import scan_records
from headwater.log.records.varint import read_varint

if TYPE_CHECKING:
    from headwater.broker.groups.shard import GroupShard
    from headwater.log.log import Log
    from headwater.log.records.batch import BatchHeader

logger = logging.getLogger("headwater.broker.groups")

_OFFSET_KEYS = (LEGACY_OFFSET_KEY_VERSION, OFFSET_KEY_VERSION)
_UNREADABLE = (ValueError, IndexError, CorruptBatch)


def load_shard(shard: GroupShard, log: Log, now_ms: int) -> None:
    """Fill an empty shard with what its log says; what cannot be read is logged and left out."""
    last = _LastRecords()
    for header, batch in log.batches():
        try:
            last.take(header, batch)
        except CorruptBatch as error:
            logger.error("%s: the batch at %d is ignored: %s", log.name, header.base_offset, error)
    unknown: set[int] = set()
    for key, place in sorted(last.plain.items(), key=lambda item: item[1].offset):
        try:
            kind = _apply(shard, key, place, now_ms)
        except _UNREADABLE as error:
            logger.error("%s: the record at %d is ignored: %s", log.name, place.offset, error)
        else:
            unknown.update(() if kind is None else (kind,))
    if unknown:
        kinds = ", ".join(map(str, sorted(unknown)))
        logger.warning("%s has records of kinds that are not known: %s", log.name, kinds)
    for producer_id, pending in last.pending.items():
        try:
            offsets = [_committed_offset(key, place) for key, place in pending.items()]
        except _UNREADABLE as error:
            logger.error("%s: offsets of producer %d are ignored: %s", log.name, producer_id, error)
        else:
            shard.offsets.prepare_txn_commit(producer_id, offsets)
            for offset_key, _ in offsets:
                group_id = offset_key.group_id
                shard.groups.setdefault(group_id, ClassicGroup(group_id, now_ms))
    for group_id in shard.offsets.group_ids():
        # Its offsets are all there is of a consumer that assigns its partitions itself.
        shard.groups.setdefault(group_id, ClassicGroup(group_id, now_ms))


class _Place(NamedTuple):
    """Where a record is: its offset, and where it starts in the records of its batch."""

    offset: int
    records: bytes
    start: int

    def value(self) -> bytes | None:
        """Read the value; None is a tombstone."""
        records = self.records
        _, position = read_varint(records, self.start)
        _, position = read_varint(records, position + 1, 64)
        _, position = read_varint(records, position)
        key_length, position = read_varint(records, position)
        position += max(key_length, 0)
        length, position = read_varint(records, position)
        return None if length < 0 else records[position : position + length]


class _LastRecords:
    """The last record of each key, as it would be after compaction."""

    def __init__(self) -> None:
        self.plain: dict[bytes, _Place] = {}
        self.pending: dict[int, dict[bytes, _Place]] = {}
        """By producer, what waits for the end of a transaction."""

    def take(self, header: BatchHeader, batch: memoryview) -> None:
        """Go on by one batch."""
        if header.is_control:
            marker = decode_marker(batch)
            if marker is not None:
                self._end(header.producer_id, committed=marker.committed)
            return
        records = uncompressed_records(batch, header)
        for start, _, delta, key, is_tombstone in scan_records(records, header.record_count):
            if key is None:
                continue
            place = _Place(header.base_offset + delta, records, start)
            if header.is_transactional:
                self.pending.setdefault(header.producer_id, {})[key] = place
                continue
            self.plain[key] = place
            if is_tombstone and self.pending:
                for pending in self.pending.values():
                    pending.pop(key, None)

    def _end(self, producer_id: int, *, committed: bool) -> None:
        for key, place in self.pending.pop(producer_id, {}).items():
            present = self.plain.get(key)
            if committed and (present is None or present.offset < place.offset):
                self.plain[key] = place


def _apply(shard: GroupShard, key: bytes, place: _Place, now_ms: int) -> int | None:
    """Take in a record; returns its kind if that is not known."""
    value = place.value()
    if value is None:
        return None
    reader = FieldReader(key)
    version = reader.int16()
    if version in _OFFSET_KEYS:
        shard.offsets.put(decode_offset_key(reader), decode_offset_value(value, place.offset))
    elif version == GROUP_METADATA_KEY_VERSION:
        group_id = reader.string()
        metadata = decode_group_metadata(value)
        shard.groups[group_id] = ClassicGroup.from_metadata(group_id, metadata, now_ms)
    else:
        change = decode_change(version, reader, value)
        if change is None:
            return None if version == PARTITION_METADATA_KEY_VERSION else version
        group = shard.groups.get(change.group_id)
        if not isinstance(group, ConsumerGroup):
            group = shard.groups[change.group_id] = ConsumerGroup(change.group_id)
        group.apply(change)
    return None


def _committed_offset(key: bytes, place: _Place) -> tuple[OffsetKey, CommittedOffset]:
    reader = FieldReader(key)
    if reader.int16() not in _OFFSET_KEYS:
        raise ValueError("a transaction has records that are not offsets")
    return decode_offset_key(reader), decode_offset_value(place.value() or b"", place.offset)
