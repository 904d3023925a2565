"""Avro's container file: a header with the schema, and blocks of values that are Avro already."""

from __future__ import annotations

import bz2
import hashlib
import zlib
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import pyarrow as pa

_MAGIC = b"Obj\x01"
_BLOCK_SIZE = 64 << 10
_MARK_SIZE = 16


class AvroContainer:
    """Writes the blocks of one file."""

    def __init__(self, file: BinaryIO, schema: str, codec: str) -> None:
        self._file = file
        self._codec = codec
        # The mark between blocks is random elsewhere; so the same records are the same bytes.
        self._mark = hashlib.sha256(schema.encode()).digest()[:_MARK_SIZE]
        self._values: list[bytes] = []
        self._size = 0
        file.write(_header(schema, codec, self._mark))

    def write(self, values: pa.ChunkedArray) -> None:
        """Write values, and keep those of a block that is not full."""
        for chunk in values.chunks:
            for value in chunk.to_pylist():
                self._values.append(value)
                self._size += len(value)
                if self._size >= _BLOCK_SIZE:
                    self._write_block()

    def finish(self) -> None:
        """Write the last block."""
        self._write_block()

    def _write_block(self) -> None:
        if self._values:
            data = _compressed(b"".join(self._values), self._codec)
            self._file.write(_long(len(self._values)) + _long(len(data)) + data + self._mark)
            self._values, self._size = [], 0


def _header(schema: str, codec: str, mark: bytes) -> bytes:
    entries = {"avro.schema": schema, "avro.codec": codec}
    metadata = b"".join(_bytes(name) + _bytes(text) for name, text in entries.items())
    return _MAGIC + _long(len(entries)) + metadata + _long(0) + mark


def _compressed(data: bytes, codec: str) -> bytes:
    match codec:
        case "deflate":
            compressor = zlib.compressobj(wbits=-15)
            return compressor.compress(data) + compressor.flush()
        case "bzip2":
            return bz2.compress(data)
        case "snappy":
            import cramjam

            found = bytes(cramjam.snappy.compress_raw(data))
            return found + zlib.crc32(data).to_bytes(4, "big")
    return data


def _bytes(text: str) -> bytes:
    data = text.encode()
    return _long(len(data)) + data


def _long(number: int) -> bytes:
    """Return a number as Avro writes it: in zigzag, seven bits at a time."""
    number = (number << 1) ^ (number >> 63)
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)
