from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.serial import writers

from headwater.protocol import primitives
from headwater.protocol.primitives import ProtocolError

if TYPE_CHECKING:
    from collections.abc import Callable


def integers(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)


def as_kio_writes(write: Callable[[Any, Any], None], value: Any) -> bytes:
    buffer = io.BytesIO()
    write(buffer, value)
    return buffer.getvalue()


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@given(data=st.data())
def test_fixed_numbers_come_back(bits: int, data: st.DataObject) -> None:
    value = data.draw(integers(bits))
    encoded = getattr(primitives, f"write_int{bits}")(value)
    read = getattr(primitives, f"read_int{bits}")
    assert read(memoryview(b"\xff" + encoded), 1, "n") == (value, 1 + bits // 8)
    with pytest.raises(ProtocolError, match=r"^n: it needs"):
        read(memoryview(encoded[:-1]), 0, "n")


@given(st.integers(0, (1 << 32) - 1))
def test_unsigned_varints_are_kafkas(value: int) -> None:
    encoded = primitives.write_uvarint(value)
    assert encoded == as_kio_writes(writers.write_unsigned_varint, value)
    assert primitives.read_uvarint(memoryview(encoded), 0, "n") == (value, len(encoded))


@given(integers(32))
def test_varints_are_kafkas(value: int) -> None:
    encoded = primitives.write_varint(value)
    assert encoded == as_kio_writes(writers.write_signed_varint, value)
    assert primitives.read_varint(memoryview(encoded), 0, "n") == (value, len(encoded))


@given(integers(64))
def test_varlongs_are_kafkas(value: int) -> None:
    encoded = primitives.write_varlong(value)
    assert encoded == as_kio_writes(writers.write_signed_varlong, value)
    assert primitives.read_varlong(memoryview(encoded), 0, "n") == (value, len(encoded))


@pytest.mark.parametrize(
    ("encoded", "complaint"),
    [
        (b"", "ends within"),
        (b"\x80", "ends within"),
        (b"\xff\xff\xff\xff", "ends within"),
        (b"\xff\xff\xff\xff\x1f", "more than 32 bits"),
        (b"\xff\xff\xff\xff\xff\x01", "more than 32 bits"),
    ],
)
def test_a_malformed_varint_is_refused(encoded: bytes, complaint: str) -> None:
    with pytest.raises(ProtocolError, match=f"^length: .*{complaint}"):
        primitives.read_uvarint(memoryview(encoded), 0, "length")


def test_a_varlong_of_more_than_64_bits_is_refused() -> None:
    with pytest.raises(ProtocolError, match="more than 64 bits"):
        primitives.read_varlong(memoryview(b"\xff" * 9 + b"\x02"), 0, "n")


def test_a_negative_number_has_no_unsigned_varint() -> None:
    with pytest.raises(ValueError, match="-1 is negative"):
        primitives.write_uvarint(-1)


@given(st.dictionaries(st.integers(0, 1 << 31), st.binary(max_size=300), max_size=5))
def test_tagged_fields_come_back(fields: dict[int, bytes]) -> None:
    encoded = primitives.write_tagged_fields(fields)
    read, position = primitives.read_tagged_fields(memoryview(encoded), 0, "tags")
    assert {tag: bytes(value) for tag, value in read.items()} == fields
    assert list(read) == sorted(fields)
    assert position == len(encoded)
    assert primitives.skip_tagged_fields(memoryview(encoded), 0, "tags") == len(encoded)


@pytest.mark.parametrize(
    ("encoded", "complaint"),
    [
        (b"", "tags: the frame ends"),
        (b"\x01", "tags: the frame ends"),
        (b"\xff\xff\xff\xff\x0f\x00\x00", "tags: there are 4294967295, but at most 16"),
        (b"\x11" + bytes(100), "tags: there are 17, but at most 16"),
        (b"\x01\x07\x05abcd", r"tags \(tag 7\): it needs 5 bytes, but 4 are left"),
    ],
)
def test_malformed_tagged_fields_are_refused(encoded: bytes, complaint: str) -> None:
    with pytest.raises(ProtocolError, match=complaint):
        primitives.read_tagged_fields(memoryview(encoded), 0, "tags")
    with pytest.raises(ProtocolError, match=complaint):
        primitives.skip_tagged_fields(memoryview(encoded), 0, "tags")


def test_ids_are_sixteen_raw_bytes() -> None:
    raw = bytes(range(16))
    assert primitives.read_uuid(memoryview(raw), 0, "topic_id") == (raw, 16)
    assert primitives.write_uuid(raw) == raw
    assert primitives.write_uuid(None) == bytes(16)
    with pytest.raises(ProtocolError, match="topic_id: it needs 16 bytes, but 15 are left"):
        primitives.read_uuid(memoryview(raw), 1, "topic_id")
    with pytest.raises(ValueError, match="16 bytes"):
        primitives.write_uuid(b"short")


@pytest.mark.parametrize(("byte", "value"), [(0, False), (1, True), (255, True)])
def test_any_byte_but_zero_is_true(byte: int, value: bool) -> None:
    assert primitives.read_bool(memoryview(bytes((byte,))), 0, "flag") == (value, 1)
    assert primitives.write_bool(value) == bytes((int(value),))
