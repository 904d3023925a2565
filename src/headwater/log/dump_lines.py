"""The lines of a dump: each holds its values, and `text` prints them as Kafka's dump tool does."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.log.records.batch import TimestampType
from headwater.log.records.compression_type import CompressionType
from headwater.log.records.record import sequence_at

if TYPE_CHECKING:
    from headwater.log.records.batch import BatchHeader
    from headwater.log.records.record import Record


@dataclass(frozen=True, slots=True)
class Note:
    """Something about the file as a whole."""

    text: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong with the file; Kafka's tool prints these to stderr."""

    text: str


@dataclass(frozen=True, slots=True)
class BatchLine:
    """A batch of a segment: its header, where it starts, and whether its CRC is right."""

    header: BatchHeader
    position: int
    is_valid: bool

    @property
    def text(self) -> str:
        """The line as Kafka prints it."""
        header = self.header
        horizon = header.base_timestamp if header.has_delete_horizon else None
        last_sequence = sequence_at(header.base_sequence, header.last_offset_delta)
        return (
            f"baseOffset: {header.base_offset} lastOffset: {header.last_offset} "
            f"count: {header.record_count} baseSequence: {header.base_sequence} "
            f"lastSequence: {last_sequence} producerId: {header.producer_id} "
            f"producerEpoch: {header.producer_epoch} "
            f"partitionLeaderEpoch: {header.leader_epoch} "
            f"isTransactional: {_java(header.is_transactional)} "
            f"isControl: {_java(header.is_control)} deleteHorizonMs: {_optional(horizon)} "
            f"position: {self.position} "
            f"{_TIMESTAMP_NAMES[header.timestamp_type]}: {header.max_timestamp} "
            f"size: {header.size} magic: {header.magic} compresscodec: {_codec(header.codec)} "
            f"crc: {header.crc} isvalid: {_java(self.is_valid)}"
        )


@dataclass(frozen=True, slots=True)
class RecordLine:
    """A record of the batch above it; the flags say which halves of the line are wanted."""

    record: Record
    timestamp_type: TimestampType
    is_control: bool
    with_metadata: bool
    with_contents: bool

    @property
    def text(self) -> str:
        """The line as Kafka prints it."""
        record = self.record
        words = ["|"]
        if self.with_metadata:
            headers = ",".join(name for name, _ in record.headers)
            words.append(
                f"offset: {record.offset} "
                f"{_TIMESTAMP_NAMES[self.timestamp_type]}: {record.timestamp} "
                f"keySize: {_size(record.key)} valueSize: {_size(record.value)} "
                f"sequence: {record.sequence} headerKeys: [{headers}]"
            )
            if self.is_control:
                words.append(_control(record))
        if self.with_contents and not self.is_control:
            if record.key is not None:
                words.append(f"key: {record.key.decode('utf-8', 'replace')}")
            if record.value is not None:
                words.append(f"payload: {record.value.decode('utf-8', 'replace')}")
        return " ".join(words)


@dataclass(frozen=True, slots=True)
class IndexLine:
    """An entry of an offset index."""

    offset: int
    position: int

    @property
    def text(self) -> str:
        """The line as Kafka prints it."""
        return f"offset: {self.offset} position: {self.position}"


@dataclass(frozen=True, slots=True)
class TimeIndexLine:
    """An entry of a time index."""

    timestamp: int
    offset: int

    @property
    def text(self) -> str:
        """The line as Kafka prints it."""
        return f"timestamp: {self.timestamp} offset: {self.offset}"


@dataclass(frozen=True, slots=True)
class AbortedTransactionLine:
    """An entry of a transaction index."""

    version: int
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int

    @property
    def text(self) -> str:
        """The line as Kafka prints it."""
        return (
            f"version: {self.version} producerId: {self.producer_id} "
            f"firstOffset: {self.first_offset} lastOffset: {self.last_offset} "
            f"lastStableOffset: {self.last_stable_offset}"
        )


@dataclass(frozen=True, slots=True)
class ProducerLine:
    """A producer in a producer snapshot, with the last batch that it wrote."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int
    coordinator_epoch: int
    current_txn_first_offset: int

    @property
    def text(self) -> str:
        """The line as Kafka prints it."""
        first = self.current_txn_first_offset if self.current_txn_first_offset >= 0 else None
        line = (
            f"producerId: {self.producer_id} producerEpoch: {self.producer_epoch} "
            f"coordinatorEpoch: {self.coordinator_epoch} "
            f"currentTxnFirstOffset: {_optional(first)} lastTimestamp: {self.timestamp} "
        )
        if self.last_offset < 0:
            return line
        first_sequence = sequence_at(self.last_sequence, -self.offset_delta)
        return line + (
            f"firstSequence: {first_sequence} lastSequence: {self.last_sequence} "
            f"lastOffset: {self.last_offset} offsetDelta: {self.offset_delta} "
            f"timestamp: {self.timestamp}"
        )


@dataclass(frozen=True, slots=True)
class EpochLine:
    """An entry of a leader-epoch-checkpoint, which Kafka's tool does not read."""

    epoch: int
    start_offset: int

    @property
    def text(self) -> str:
        """The line in the manner of Kafka's others."""
        return f"epoch: {self.epoch} startOffset: {self.start_offset}"


@dataclass(frozen=True, slots=True)
class CheckpointLine:
    """An entry of an offset checkpoint, which Kafka's tool does not read."""

    topic: str
    partition: int
    offset: int

    @property
    def text(self) -> str:
        """The line in the manner of Kafka's others."""
        return f"topic: {self.topic} partition: {self.partition} offset: {self.offset}"


DumpLine = (
    Note
    | Problem
    | BatchLine
    | RecordLine
    | IndexLine
    | TimeIndexLine
    | AbortedTransactionLine
    | ProducerLine
    | EpochLine
    | CheckpointLine
)

_TIMESTAMP_NAMES = {
    TimestampType.CREATE_TIME: "CreateTime",
    TimestampType.LOG_APPEND_TIME: "LogAppendTime",
}
_CONTROL_KEY = struct.Struct(">hh")
_MARKER = struct.Struct(">hi")
_MARKER_NAMES = {0: "ABORT", 1: "COMMIT"}


def _control(record: Record) -> str:
    if record.key is None or len(record.key) < _CONTROL_KEY.size:
        return "controlType: UNKNOWN"
    _, kind = _CONTROL_KEY.unpack_from(record.key)
    name = _MARKER_NAMES.get(kind)
    if name is None or record.value is None or len(record.value) < _MARKER.size:
        return f"controlType: {name or 'UNKNOWN'}({kind})"
    _, coordinator_epoch = _MARKER.unpack_from(record.value)
    return f"endTxnMarker: {name} coordinatorEpoch: {coordinator_epoch}"


def _codec(number: int) -> str:
    return (
        CompressionType(number).config_name
        if number <= max(CompressionType)
        else f"unknown({number})"
    )


def _size(data: bytes | None) -> int:
    return -1 if data is None else len(data)


def _java(value: bool) -> str:
    return "true" if value else "false"


def _optional(value: int | None) -> str:
    return "OptionalLong.empty" if value is None else f"OptionalLong[{value}]"
