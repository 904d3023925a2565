"""The `.snapshot` files of a partition: its producers as they were at an offset.

The file is Kafka's: version, CRC-32C, then one entry for each producer with its last batch.
Behind that, where Kafka's reader no longer looks, come all of the remembered batches of each
producer and the time when it was last heard of. So a client that was cut off by a restart can
send all of its requests in flight again, not only the last.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import google_crc32c

from headwater.log.disk import names_in, write_atomically
from headwater.log.errors import CorruptBatch
from headwater.log.producers.producer_entry import NO_SEQUENCE, BatchMetadata, ProducerEntry

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SUFFIX = ".snapshot"


class CorruptSnapshot(CorruptBatch):
    """A snapshot file is not what was written; an older one, or the log itself, takes over."""


def snapshot_path(directory: Path, offset: int) -> Path:
    """Name the snapshot that covers everything before an offset."""
    return directory / f"{offset:020d}{SUFFIX}"


def list_snapshots(directory: Path) -> dict[int, Path]:
    """Find the snapshots of a partition by their offset, oldest first."""
    found = {
        int(stem): directory / name
        for name in names_in(directory)
        if name.endswith(SUFFIX)
        and (stem := name.removesuffix(SUFFIX)).isascii()
        and stem.isdigit()
    }
    return dict(sorted(found.items()))


def write_snapshot(path: Path, entries: Iterable[ProducerEntry]) -> None:
    """Write the producers into a new file; raises OSError.

    It need not be on disk: what a power cut leaves of it fails its CRC, and then an older one and
    the batches since take its place.
    """
    write_atomically(path, encode_snapshot(entries), durable=False)


def read_snapshot(path: Path) -> list[ProducerEntry]:
    """Read the producers back; raises CorruptSnapshot."""
    try:
        return decode_snapshot(path.read_bytes())
    except CorruptSnapshot as error:
        raise CorruptSnapshot(f"{path}: {error}") from None


def encode_snapshot(entries: Iterable[ProducerEntry]) -> bytes:
    """Pack the producers, CRC included."""
    kept = list(entries)
    body = bytearray(_COUNT.pack(len(kept)))
    for entry in kept:
        last = entry.batches[-1] if entry.batches else _NO_BATCH
        body += _ENTRY.pack(
            entry.producer_id,
            entry.epoch,
            last.last_sequence,
            last.last_offset,
            last.offset_delta,
            entry.last_timestamp,
            entry.coordinator_epoch,
            entry.txn_first_offset,
        )
    body += _MORE
    for entry in kept:
        body += _EXTRA.pack(entry.active_ms, len(entry.batches))
        for batch in entry.batches:
            body += _BATCH.pack(*batch)
    return _HEAD.pack(_VERSION, google_crc32c.value(bytes(body))) + body


def decode_snapshot(content: bytes) -> list[ProducerEntry]:
    """Unpack the producers; raises CorruptSnapshot."""
    try:
        version, crc = _HEAD.unpack_from(content)
        if version != _VERSION:
            raise CorruptSnapshot(f"It has version {version}, but only {_VERSION} is known.")
        if google_crc32c.value(content[_HEAD.size :]) != crc:
            raise CorruptSnapshot("Its checksum does not fit its content.")
        position = _HEAD.size + _COUNT.size
        entries = []
        for _ in range(_COUNT.unpack_from(content, _HEAD.size)[0]):
            entries.append(_decode_entry(content, position))
            position += _ENTRY.size
        if content[position : position + len(_MORE)] == _MORE:
            _decode_more(content, position + len(_MORE), entries)
    except struct.error as error:
        raise CorruptSnapshot(f"It ends too early: {error}.") from None
    return entries


_VERSION = 1
_HEAD = struct.Struct(">hI")
_COUNT = struct.Struct(">i")
_ENTRY = struct.Struct(">qhiqiqiq")
_MORE = b"HW1\0"
_EXTRA = struct.Struct(">qb")
_BATCH = struct.Struct(">iqiq")
_NO_BATCH = BatchMetadata(NO_SEQUENCE, -1, 0, -1)


def _decode_entry(content: bytes, position: int) -> ProducerEntry:
    producer_id, epoch, last_sequence, last_offset, delta, timestamp, coordinator_epoch, first = (
        _ENTRY.unpack_from(content, position)
    )
    batches = []
    if last_offset >= 0:
        batches.append(BatchMetadata(last_sequence, last_offset, delta, timestamp))
    return ProducerEntry(
        producer_id,
        epoch,
        coordinator_epoch=coordinator_epoch,
        last_timestamp=timestamp,
        active_ms=timestamp,
        txn_first_offset=max(first, -1),
        batches=batches,
    )


def _decode_more(content: bytes, position: int, entries: list[ProducerEntry]) -> None:
    for entry in entries:
        entry.active_ms, count = _EXTRA.unpack_from(content, position)
        position += _EXTRA.size
        entry.batches.clear()
        for _ in range(count):
            entry.batches.append(BatchMetadata._make(_BATCH.unpack_from(content, position)))
            position += _BATCH.size
