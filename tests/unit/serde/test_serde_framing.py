"""Confluent's wire format: ids, GUIDs and the message indexes of Protobuf."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.schema_registry.serde import SchemaId
from hypothesis import given
from hypothesis import strategies as st

from headwater.serde.framing import (
    FramingError,
    SchemaRef,
    decode_indexes,
    encode_indexes,
    id_prefix,
    read_schema_ref,
)

if TYPE_CHECKING:
    import uuid

INDEXES = st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=20)


@given(st.integers(0, 2**32 - 1))
def test_ids(schema_id: int) -> None:
    prefix = id_prefix(schema_id)
    assert prefix == SchemaId("AVRO", schema_id).id_to_bytes()
    assert read_schema_ref(prefix + b"payload") == SchemaRef(schema_id, None, 5)


@given(st.uuids())
def test_guids(guid: uuid.UUID) -> None:
    data = SchemaId("AVRO", None, str(guid)).guid_to_bytes()
    assert read_schema_ref(data + b"payload") == SchemaRef(None, guid, 17)


@given(INDEXES)
def test_message_indexes(indexes: list[int]) -> None:
    data = encode_indexes(indexes)
    assert id_prefix(1) + data == SchemaId("PROTOBUF", 1, None, indexes).id_to_bytes()
    assert decode_indexes(b"__" + data + b"message", 2) == (tuple(indexes), 2 + len(data))


@given(st.binary(max_size=40))
def test_rubbish_is_read_as_confluent_reads_it_or_refused(data: bytes) -> None:
    try:
        indexes, end = decode_indexes(data, 0)
    except FramingError:
        return
    buffer = io.BytesIO(data)
    assert SchemaId._read_index_array(buffer) == list(indexes)
    assert buffer.tell() == end


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is empty"),
        (b"\0\0\0\0", "it ends after 4 bytes, in the middle of the schema id"),
        (b"\1" + bytes(15), "it ends after 16 bytes, in the middle of the schema GUID"),
        (b'{"a":1}', "starts with the byte 0x7b .* not written with a schema from a registry"),
        (b"\2" + bytes(30), "starts with the byte 0x02"),
    ],
)
def test_what_is_no_frame(data: bytes, reason: str) -> None:
    with pytest.raises(FramingError, match=reason):
        read_schema_ref(data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "ends in the middle of the message indexes"),
        (b"\x04\x02", "ends in the middle of the message indexes"),
        (b"\x01", "-1 message indexes"),
        (b"\xfe\xff\xff\x0f", "16777215 message indexes"),
        (b"\xff" * 20, "longer than any number"),
    ],
)
def test_what_are_no_message_indexes(data: bytes, reason: str) -> None:
    with pytest.raises(FramingError, match=reason):
        decode_indexes(data, 0)
