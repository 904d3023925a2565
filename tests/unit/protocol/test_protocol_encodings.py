from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.serial import writers

from headwater.protocol.encodings import COMPACT, LEGACY, Encoding, encoding
from headwater.protocol.primitives import ProtocolError

BOTH = pytest.mark.parametrize("kind", [LEGACY, COMPACT], ids=["legacy", "compact"])


def as_kio_writes(write: Any, value: Any) -> bytes:
    buffer = io.BytesIO()
    write(buffer, value)
    return buffer.getvalue()


def test_flexible_versions_are_compact() -> None:
    assert encoding(flexible=True) is COMPACT
    assert encoding(flexible=False) is LEGACY


@BOTH
@given(text=st.none() | st.text(max_size=200))
def test_strings_are_kafkas(kind: Encoding, text: str | None) -> None:
    encoded = kind.write_nullable_string(text)
    kio = (
        writers.write_nullable_legacy_string
        if kind is LEGACY
        else writers.write_nullable_compact_string
    )
    assert encoded == as_kio_writes(kio, text)
    assert kind.read_nullable_string(memoryview(encoded), 0, "s") == (text, len(encoded))
    if text is None:
        with pytest.raises(ProtocolError, match="s: it is null"):
            kind.read_string(memoryview(encoded), 0, "s")
    else:
        assert kind.write_string(text) == encoded
        assert kind.read_string(memoryview(encoded), 0, "s") == (text, len(encoded))
        if text:
            with pytest.raises(ProtocolError, match="s: it needs"):
                kind.read_string(memoryview(encoded[:-1]), 0, "s")


@BOTH
@given(data=st.none() | st.binary(max_size=200))
def test_bytes_are_kafkas(kind: Encoding, data: bytes | None) -> None:
    encoded = kind.write_nullable_bytes(data)
    kio = (
        writers.write_nullable_legacy_bytes
        if kind is LEGACY
        else writers.write_nullable_compact_string
    )
    assert encoded == as_kio_writes(kio, data)
    assert kind.read_nullable_bytes(memoryview(encoded), 0, "b") == (data, len(encoded))
    if data is None:
        with pytest.raises(ProtocolError, match="b: it is null"):
            kind.read_bytes(memoryview(encoded), 0, "b")
    else:
        assert kind.write_bytes(data) == encoded
        content, end = kind.read_bytes(memoryview(encoded), 0, "b")
        assert (bytes(content), end) == (data, len(encoded))


@BOTH
def test_bytes_are_not_copied(kind: Encoding) -> None:
    frame = bytearray(kind.write_bytes(b"abc"))
    data, end = kind.read_bytes(memoryview(frame), 0, "records")
    frame[end - 1] = ord("z")
    assert bytes(data) == b"abz"


@BOTH
@given(length=st.integers(-1, 300))
def test_array_lengths_come_back(kind: Encoding, length: int) -> None:
    encoded = kind.write_array_length(length)
    view = memoryview(encoded + bytes(600))
    assert kind.read_nullable_array_length(view, 0, "a", 2) == (length, len(encoded))
    if length == -1:
        with pytest.raises(ProtocolError, match="a: it is null"):
            kind.read_array_length(view, 0, "a", 2)
    else:
        assert kind.read_array_length(view, 0, "a", 2) == (length, len(encoded))


@BOTH
def test_an_array_that_cannot_be_in_the_frame_is_refused(kind: Encoding) -> None:
    view = memoryview(kind.write_array_length(6) + bytes(10))
    for read in (kind.read_array_length, kind.read_nullable_array_length):
        with pytest.raises(ProtocolError, match="a: 6 items cannot be in the 10 bytes"):
            read(view, 0, "a", 2)


def test_negative_lengths_are_refused() -> None:
    view = memoryview(b"\xff\xfe\xff\xfe")
    for read in (
        LEGACY.read_string,
        LEGACY.read_nullable_string,
        LEGACY.read_bytes,
        LEGACY.read_nullable_bytes,
    ):
        with pytest.raises(ProtocolError, match=r"^x: its length is -"):
            read(view, 0, "x")
    for read_length in (LEGACY.read_array_length, LEGACY.read_nullable_array_length):
        with pytest.raises(ProtocolError, match=r"^x: its length is -"):
            read_length(view, 0, "x", 1)


@BOTH
def test_text_that_is_not_utf8_is_refused(kind: Encoding) -> None:
    good = bytearray(kind.write_string("abc"))
    good[-1] = 0xFF
    with pytest.raises(ProtocolError, match="name: it is not UTF-8"):
        kind.read_string(memoryview(good), 0, "name")


def test_a_string_too_long_for_its_length_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="32768 bytes"):
        LEGACY.write_string("x" * 32768)
    assert COMPACT.read_string(memoryview(COMPACT.write_string("x" * 32768)), 0, "s")[1] == 32771
