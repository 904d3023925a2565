"""Text, bytes, numbers and JSON: the bytes that other clients write, and clear refusals."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest
from confluent_kafka import serialization as confluent
from hypothesis import given
from hypothesis import strategies as st

from headwater.serde import (
    BytesDeserializer,
    BytesSerializer,
    Context,
    DeserializationError,
    Deserializer,
    DoubleDeserializer,
    DoubleSerializer,
    IntegerDeserializer,
    IntegerSerializer,
    JsonDeserializer,
    JsonSerializer,
    LongDeserializer,
    LongSerializer,
    SerializationError,
    Serializer,
    StringDeserializer,
    StringSerializer,
)

PAIRS: list[tuple[Serializer[Any], Deserializer[Any], Any]] = [
    (StringSerializer(), StringDeserializer(), "Käse ☕ \0"),
    (StringSerializer("utf-16"), StringDeserializer("utf-16"), "Käse"),
    (BytesSerializer(), BytesDeserializer(), b"\0\xff"),
    (IntegerSerializer(), IntegerDeserializer(), -(2**31)),
    (LongSerializer(), LongDeserializer(), -(2**63)),
    (DoubleSerializer(), DoubleDeserializer(), 1e300),
    (JsonSerializer(), JsonDeserializer(), {"a": [1, 2.5, None, True, "ü"]}),
]


@pytest.mark.parametrize(("serializer", "deserializer", "value"), PAIRS)
def test_there_and_back(
    serializer: Serializer[Any], deserializer: Deserializer[Any], value: Any
) -> None:
    data = serializer(value, "topic")
    assert isinstance(data, bytes)
    assert deserializer(data, "topic") == value
    assert serializer(None, "topic") is None
    assert deserializer(None, "topic") is None
    encoded = serializer.encode_many([value, None, value], "topic")
    assert encoded == [data, None, data]
    assert deserializer.decode_many(encoded, "topic") == [value, None, value]
    assert pickle.loads(pickle.dumps(serializer))(value) == data
    assert pickle.loads(pickle.dumps(deserializer))(data) == value


@given(st.text(), st.floats(allow_nan=False))
def test_the_bytes_are_confluents(text: str, number: float) -> None:
    assert StringSerializer()(text) == confluent.StringSerializer("utf_8")(text)
    assert DoubleSerializer()(number) == confluent.DoubleSerializer()(number)
    assert confluent.DoubleDeserializer()(DoubleSerializer()(number)) == number


@given(st.integers(-(2**63), 2**63 - 1))
def test_a_long_is_javas(number: int) -> None:
    data = LongSerializer()(number)
    assert data == number.to_bytes(8, "big", signed=True)
    assert LongDeserializer()(data) == number


@pytest.mark.parametrize(
    ("serializer", "value", "reason"),
    [
        (StringSerializer(), 5, "a string is text, not 5"),
        (BytesSerializer(), 5, "bytes are wanted, not 5"),
        (IntegerSerializer(), 2**31, "2147483648 does not fit into 4 bytes"),
        (LongSerializer(), 2**63, "9223372036854775808 does not fit into 8 bytes"),
        (LongSerializer(), 1.5, "a long is a whole number, not 1.5"),
        (LongSerializer(), "7", "a long is a whole number, not '7'"),
        (DoubleSerializer(), "7", "a double is a number, not '7'"),
        (JsonSerializer(), math.nan, "not JSON compliant"),
        (JsonSerializer(), object(), "not JSON serializable"),
    ],
)
def test_a_value_that_does_not_fit(serializer: Serializer[Any], value: Any, reason: str) -> None:
    with pytest.raises(SerializationError, match=f"^orders, value: .*{reason}"):
        serializer(value, "orders")
    with pytest.raises(SerializationError, match=f"^orders, value: value 1 of .*{reason}"):
        serializer.encode_many([None, value], "orders")


@pytest.mark.parametrize(
    ("deserializer", "data", "reason"),
    [
        (StringDeserializer(), b"\xff", "can't decode byte 0xff"),
        (IntegerDeserializer(), b"12345", "a int has 4 bytes, this has 5"),
        (LongDeserializer(), b"1234567", "a long has 8 bytes, this has 7"),
        (DoubleDeserializer(), b"", "a double has 8 bytes, this has 0"),
        (JsonDeserializer(), b"{", "it is not JSON: Expecting property name"),
        (JsonDeserializer(), b"\xff\xfe\xfd", "it is not JSON"),
    ],
)
def test_a_malformed_payload_says_where_it_is(
    deserializer: Deserializer[Any], data: bytes, reason: str
) -> None:
    with pytest.raises(DeserializationError) as caught:
        deserializer(data, Context("orders", partition=3, offset=17))
    assert str(caught.value).startswith("orders [3] at offset 17, value: ")
    assert reason in caught.value.reason
    assert (caught.value.topic, caught.value.partition, caught.value.offset) == ("orders", 3, 17)
    assert caught.value.__cause__ is not None


def test_a_malformed_payload_in_a_batch() -> None:
    payloads = [b'{"a":1}', b"no", None, b"2"]
    columns: Any = {"partitions": [0, 1, 0, 1], "offsets": [7, 8, 9, 10]}
    with pytest.raises(DeserializationError, match=r"^orders \[1\] at offset 8, key: "):
        JsonDeserializer().decode_many(payloads, Context("orders", "key"), **columns)
    malformed: list[DeserializationError] = []
    values = JsonDeserializer().decode_many(
        payloads, "orders", **columns, on_error=malformed.append
    )
    assert values == [{"a": 1}, None, None, 2]
    assert [(each.partition, each.offset) for each in malformed] == [(1, 8)]


def test_confluents_clients_can_call_them() -> None:
    place = confluent.SerializationContext("orders", confluent.MessageField.KEY)
    assert StringSerializer()("k", place) == b"k"
    with pytest.raises(DeserializationError, match=r"^orders, key: "):
        LongDeserializer()(b"", place)
