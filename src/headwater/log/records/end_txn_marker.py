"""The control record that ends a transaction in a partition: commit or abort."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from headwater.log.errors import CorruptBatch
from headwater.log.records.record import Record, decode_records, encode_batch

if TYPE_CHECKING:
    from headwater.log.records.batch import Buffer

ABORT = 0
COMMIT = 1


class EndTxnMarker(NamedTuple):
    """How a transaction ended, and the epoch of the coordinator that says so."""

    committed: bool
    coordinator_epoch: int


def encode_marker(
    marker: EndTxnMarker, *, producer_id: int, producer_epoch: int, timestamp: int
) -> bytearray:
    """Build the control batch that ends the producer's transaction."""
    key = _KEY.pack(_VERSION, COMMIT if marker.committed else ABORT)
    value = _VALUE.pack(_VERSION, marker.coordinator_epoch)
    return encode_batch(
        [Record(0, timestamp, key, value)],
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        is_transactional=True,
        is_control=True,
    )


def decode_marker(batch: Buffer) -> EndTxnMarker | None:
    """Read a control batch; None if compaction emptied it or it is not about transactions."""
    record = next(decode_records(batch), None)
    if record is None:
        return None
    key, value = record.key or b"", record.value or b""
    if len(key) < _KEY.size:
        raise CorruptBatch(
            f"The control batch at offset {record.offset} has a key of {len(key)} bytes, "
            f"but a control record's key has {_KEY.size}."
        )
    _, kind = _KEY.unpack_from(key)
    if kind not in (ABORT, COMMIT):
        return None
    if len(value) < _VALUE.size:
        raise CorruptBatch(
            f"The transaction marker at offset {record.offset} has a value of {len(value)} "
            f"bytes, but it needs {_VALUE.size}."
        )
    return EndTxnMarker(kind == COMMIT, _VALUE.unpack_from(value)[1])


_VERSION = 0
_KEY = struct.Struct(">hh")
_VALUE = struct.Struct(">hi")
