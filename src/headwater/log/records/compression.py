"""Compress and decompress a batch's records in the framings that Kafka's clients write."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import cramjam

from headwater.log.errors import CorruptBatch
from headwater.log.records.compression_type import CompressionType

if TYPE_CHECKING:
    from types import ModuleType

    from headwater.log.records.batch import Buffer


def compress(codec: CompressionType, data: Buffer, level: int | None = None) -> bytes:
    """Compress `data` as Kafka's Java client would.

    `level` has the meaning of `compression.<codec>.level`; None and the setting's default
    give the codec's usual speed.
    """
    match codec:
        case CompressionType.NONE:
            return bytes(data)
        case CompressionType.GZIP:
            return bytes(cramjam.gzip.compress(data, 6 if level in (None, -1) else level))
        case CompressionType.SNAPPY:
            return _compress_xerial(memoryview(data))
        case CompressionType.LZ4:
            return _compress_lz4(data, level)
        case CompressionType.ZSTD:
            return bytes(cramjam.zstd.compress(data, 3 if level is None else level))


def decompress(codec: CompressionType, data: Buffer, max_size: int) -> bytes:
    """Undo `compress`; raises CorruptBatch for damaged data or for more than `max_size` bytes."""
    match codec:
        case CompressionType.NONE:
            if len(data) > max_size:
                raise _too_large(codec, max_size)
            return bytes(data)
        case CompressionType.GZIP:
            return _decompress_stream(codec, cramjam.gzip, data, max_size)
        case CompressionType.SNAPPY:
            return _decompress_snappy(memoryview(data), max_size)
        case CompressionType.LZ4:
            return _decompress_stream(codec, cramjam.lz4, data, max_size)
        case CompressionType.ZSTD:
            return _decompress_stream(codec, cramjam.zstd, data, max_size)


_LZ4_FAST = 1
_LZ4_LOWEST_HIGH = 3
_LZ4_SETTING_DEFAULT = 9

_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL_MAGIC + struct.pack(">ii", 1, 1)
_XERIAL_BLOCK = 32 * 1024
_INT = struct.Struct(">i")

# A snappy element of three bytes yields at most 64.
_SNAPPY_BEST_RATIO = 22

_FIRST_GUESS_RATIO = 8
_SMALLEST_GUESS = 64 * 1024
_GUESS_GROWTH = 4
# How cramjam says that the output buffer is too small (the text is Rust's own for WriteZero).
_OUTPUT_FULL = "failed to write whole buffer"


def _compress_lz4(data: Buffer, level: int | None) -> bytes:
    # Kafka's default "level 9" means the fast compressor, every other one the high-compression one.
    if level in (None, _LZ4_SETTING_DEFAULT):
        level = _LZ4_FAST
    elif level is not None:
        level = max(level, _LZ4_LOWEST_HIGH)
    # Java's reader refuses linked blocks, which are cramjam's default.
    compressor = cramjam.lz4.Compressor(level=level, content_checksum=False, block_linked=False)
    compressor.compress(bytes(data))
    return bytes(compressor.finish())


def _compress_xerial(data: memoryview) -> bytes:
    parts = [_XERIAL_HEADER]
    for start in range(0, len(data), _XERIAL_BLOCK):
        block = bytes(cramjam.snappy.compress_raw(data[start : start + _XERIAL_BLOCK]))
        parts += (_INT.pack(len(block)), block)
    return b"".join(parts)


def _decompress_snappy(data: memoryview, max_size: int) -> bytes:
    if data[: len(_XERIAL_MAGIC)] != _XERIAL_MAGIC:
        return _decompress_snappy_block(data, max_size)
    if len(data) < len(_XERIAL_HEADER):
        raise CorruptBatch("Snappy data ends in the middle of its header.")
    blocks: list[bytes] = []
    total = 0
    position = len(_XERIAL_HEADER)
    while position < len(data):
        if len(data) - position < _INT.size:
            raise CorruptBatch("Snappy data ends in the middle of a block's length.")
        (length,) = _INT.unpack_from(data, position)
        position += _INT.size
        if not 0 < length <= len(data) - position:
            raise CorruptBatch(
                f"Snappy data has a block of {length} bytes where {len(data) - position} are left."
            )
        block = _decompress_snappy_block(data[position : position + length], max_size - total)
        blocks.append(block)
        total += len(block)
        position += length
    return b"".join(blocks)


def _decompress_snappy_block(block: memoryview, max_size: int) -> bytes:
    try:
        size = cramjam.snappy.decompress_raw_len(block)
        if size > max_size:
            raise _too_large(CompressionType.SNAPPY, max_size)
        # The claimed size is allocated before the data is looked at, so it has to be possible.
        if size > _SNAPPY_BEST_RATIO * len(block):
            raise CorruptBatch(
                f"Snappy data of {len(block)} bytes claims to hold {size}, more than it can."
            )
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError as error:
        raise CorruptBatch(f"Snappy data cannot be decompressed: {error}.") from error


def _decompress_stream(
    codec: CompressionType, module: ModuleType, data: Buffer, max_size: int
) -> bytes:
    # Neither Java's nor librdkafka's streams say how much they hold, so the buffer is a guess
    # that grows; the limit holds whatever the stream claims.
    size = min(max(len(data) * _FIRST_GUESS_RATIO, _SMALLEST_GUESS), max_size)
    while True:
        output = bytearray(size)
        try:
            written: int = module.decompress_into(data, output)
        except cramjam.DecompressionError as error:
            if str(error) != _OUTPUT_FULL:
                name = codec.config_name
                raise CorruptBatch(f"The {name} data cannot be decompressed: {error}.") from error
            if size == max_size:
                raise _too_large(codec, max_size) from None
            size = min(size * _GUESS_GROWTH, max_size)
        else:
            return bytes(memoryview(output)[:written])


def _too_large(codec: CompressionType, max_size: int) -> CorruptBatch:
    return CorruptBatch(f"The {codec.config_name} data holds more than {max_size} bytes.")
