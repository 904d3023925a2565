"""Record batches for the raw client, made and read by kafka-python: not by the code under test."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kafka.record import MemoryRecords, MemoryRecordsBuilder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}


class Message(NamedTuple):
    """What a producer sends and a consumer gets back."""

    value: bytes | None
    key: bytes | None = None
    timestamp: int = 1_700_000_000_000
    headers: Sequence[tuple[str, bytes | None]] = ()


def batch_of(messages: Iterable[Message | bytes | None], codec: str = "none") -> bytes:
    """One record batch; a bare value stands for a message without key and headers."""
    builder = MemoryRecordsBuilder(magic=2, compression_type=CODECS[codec], batch_size=1 << 31)
    for item in messages:
        message = item if isinstance(item, Message) else Message(item)
        appended = builder.append(
            timestamp=message.timestamp,
            key=message.key,
            value=message.value,
            headers=list(message.headers),
        )
        assert appended is not None
    builder.close()
    return bytes(builder.buffer())


def records_in(batches: bytes | None) -> list[tuple[int, Message]]:
    """Offsets and messages of all whole batches; like clients, without a cut-off last one."""
    found: list[tuple[int, Message]] = []
    memory = MemoryRecords(batches or b"")
    while (batch := memory.next_batch()) is not None:
        assert batch.validate_crc()
        for record in batch:
            message = Message(record.value, record.key, record.timestamp, tuple(record.headers))
            found.append((record.offset, message))
    return found


def end_of(batches: bytes) -> int | None:
    """The offset after the last whole batch, which may be an empty one; None without any."""
    end: int | None = None
    memory = MemoryRecords(batches)
    while (batch := memory.next_batch()) is not None:
        end = batch.next_offset
    return end


def values_in(batches: bytes | None) -> list[tuple[int, bytes | None]]:
    return [(offset, message.value) for offset, message in records_in(batches)]
