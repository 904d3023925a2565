"""Each codec against an implementation that is not ours, and against damage."""

from __future__ import annotations

import contextlib
import gzip
import random
import struct
import zlib
from typing import Any

import cramjam
import lz4.frame
import pytest
import snappy
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import often

from headwater.log.errors import CorruptBatch, UnsupportedCompression
from headwater.log.records.compression import compress, decompress
from headwater.log.records.compression_type import CompressionType

TEXT = b"".join(b'{"sensor": %d, "temperature": 21.5}' % (i % 50) for i in range(8000))
NOISE = random.Random(7).randbytes(200_000)
SAMPLES = [b"x", b"hello", bytes(100_000), TEXT, NOISE, TEXT[:32768], TEXT[:32769]]
COMPRESSED = [codec for codec in CompressionType if codec is not CompressionType.NONE]
ROOM = 1 << 20


@pytest.mark.parametrize("codec", CompressionType)
@pytest.mark.parametrize("data", SAMPLES, ids=len)
def test_round_trip(codec: CompressionType, data: bytes) -> None:
    assert decompress(codec, compress(codec, data), len(data)) == data
    assert decompress(codec, memoryview(compress(codec, bytearray(data))), ROOM) == data


@settings(deadline=None)
@given(st.sampled_from(CompressionType), st.binary(min_size=1, max_size=5000), st.integers(0, 20))
def test_any_bytes_come_back(codec: CompressionType, data: bytes, repeat: int) -> None:
    data *= repeat + 1
    assert decompress(codec, compress(codec, data), len(data)) == data


@pytest.mark.parametrize("data", SAMPLES, ids=len)
def test_gzip_is_gzip(data: bytes) -> None:
    assert gzip.decompress(compress(CompressionType.GZIP, data)) == data
    assert decompress(CompressionType.GZIP, gzip.compress(data), ROOM) == data
    stream = zlib.compressobj(9, zlib.DEFLATED, 31)
    assert decompress(CompressionType.GZIP, stream.compress(data) + stream.flush(), ROOM) == data


@pytest.mark.parametrize("data", SAMPLES, ids=len)
def test_lz4_is_the_frame_format_with_independent_blocks(data: bytes) -> None:
    compressed = compress(CompressionType.LZ4, data)
    assert lz4.frame.decompress(compressed) == data
    info: dict[str, Any] = lz4.frame.get_frame_info(compressed)
    # Java's reader knows no linked blocks.
    assert not info["block_linked"]
    assert info["block_size"] == 65536


@pytest.mark.parametrize("store_size", [True, False])
@pytest.mark.parametrize("block_linked", [True, False])
@pytest.mark.parametrize("checksums", [True, False])
@pytest.mark.parametrize("block_size", [lz4.frame.BLOCKSIZE_MAX64KB, lz4.frame.BLOCKSIZE_MAX4MB])
def test_lz4_frames_of_any_client(
    store_size: bool, block_linked: bool, checksums: bool, block_size: int
) -> None:
    for data in SAMPLES:
        frame = lz4.frame.compress(
            data,
            store_size=store_size,
            block_linked=block_linked,
            block_checksum=checksums,
            content_checksum=checksums,
            block_size=block_size,
        )
        assert decompress(CompressionType.LZ4, frame, ROOM) == data


@pytest.mark.parametrize("data", SAMPLES, ids=len)
def test_snappy_has_the_xerial_framing_that_java_writes(data: bytes) -> None:
    compressed = compress(CompressionType.SNAPPY, data)
    assert compressed[:16] == b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)
    position, blocks = 16, []
    while position < len(compressed):
        (length,) = struct.unpack_from(">i", compressed, position)
        blocks.append(snappy.uncompress(compressed[position + 4 : position + 4 + length]))
        position += 4 + length
    assert b"".join(blocks) == data
    assert all(len(block) == 32 * 1024 for block in blocks[:-1])


@pytest.mark.parametrize("data", SAMPLES, ids=len)
def test_raw_snappy_is_accepted(data: bytes) -> None:
    assert decompress(CompressionType.SNAPPY, snappy.compress(data), ROOM) == data


@pytest.mark.parametrize("data", SAMPLES, ids=len)
def test_zstd_frames_without_a_content_size(data: bytes) -> None:
    stream = cramjam.zstd.Compressor(3)
    stream.compress(data)
    frame = bytes(stream.finish())
    single_segment_or_size = frame[4] & 0xE0
    assert not single_segment_or_size
    assert decompress(CompressionType.ZSTD, frame, ROOM) == data


@pytest.mark.parametrize(
    ("codec", "low", "high"),
    [(CompressionType.GZIP, 1, 9), (CompressionType.LZ4, 9, 12), (CompressionType.ZSTD, -5, 19)],
)
def test_a_higher_level_compresses_better(codec: CompressionType, low: int, high: int) -> None:
    sizes = [len(compress(codec, TEXT, level)) for level in (low, high)]
    assert sizes[1] < sizes[0]
    assert decompress(codec, compress(codec, TEXT, high), ROOM) == TEXT


@pytest.mark.parametrize(
    ("codec", "levels"),
    [
        (CompressionType.GZIP, [-1, *range(1, 10)]),
        (CompressionType.LZ4, range(1, 18)),
        (CompressionType.ZSTD, [-131072, -1, 1, 3, 22]),
        (CompressionType.SNAPPY, [None]),
    ],
)
def test_every_level_that_the_settings_allow(
    codec: CompressionType, levels: list[int | None]
) -> None:
    for level in levels:
        assert decompress(codec, compress(codec, TEXT[:20_000], level), ROOM) == TEXT[:20_000]


@pytest.mark.parametrize("codec", CompressionType)
def test_more_than_the_limit_is_refused(codec: CompressionType) -> None:
    bomb = compress(codec, bytes(50 << 20))
    for limit in (0, 1000, (50 << 20) - 1):
        with pytest.raises(CorruptBatch, match="more than"):
            decompress(codec, bomb, limit)
    assert len(decompress(codec, bomb, 50 << 20)) == 50 << 20


def test_a_snappy_block_cannot_claim_what_it_cannot_hold() -> None:
    claims_four_gigabytes = b"\xff\xff\xff\xff\x0f" + b"x" * 20
    with pytest.raises(CorruptBatch, match="more than"):
        decompress(CompressionType.SNAPPY, claims_four_gigabytes, 1 << 33)


@pytest.mark.parametrize("codec", COMPRESSED)
@pytest.mark.parametrize("kept", [0, 1, 3, 8, 15, 16, 18, 0.5])
def test_a_truncated_stream_is_corrupt(codec: CompressionType, kept: float) -> None:
    compressed = compress(codec, TEXT)
    cut = compressed[: int(kept if kept >= 1 else kept * len(compressed))]
    if codec is CompressionType.SNAPPY and len(cut) in (0, 16):
        return  # an empty raw block and a frame without blocks are whole
    with pytest.raises(CorruptBatch):
        decompress(codec, cut, ROOM)


@settings(deadline=None, max_examples=often(100, in_soak=3000))
@given(st.sampled_from(COMPRESSED), st.data())
def test_damage_never_raises_anything_else(codec: CompressionType, data: st.DataObject) -> None:
    damaged = bytearray(compress(codec, TEXT[:3000]))
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    cut = damaged[: data.draw(st.integers(0, len(damaged)))]
    with contextlib.suppress(CorruptBatch):
        assert len(decompress(codec, cut, ROOM)) <= ROOM


def test_names() -> None:
    assert [codec.config_name for codec in CompressionType] == [
        "none",
        "gzip",
        "snappy",
        "lz4",
        "zstd",
    ]
    assert all(CompressionType.from_name(codec.config_name) is codec for codec in CompressionType)
    assert CompressionType.from_name("uncompressed") is CompressionType.NONE
    with pytest.raises(UnsupportedCompression, match=r"'brotli'.*zstd"):
        CompressionType.from_name("brotli")
