"""Avro: which schema is written with, what a reader with another one sees, what is refused."""

from __future__ import annotations

import datetime
import decimal
import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from headwater.serde import (
    AvroDeserializer,
    AvroSerializer,
    Context,
    DeserializationError,
    Reference,
    RegistryError,
    Schema,
    SchemaError,
    SchemaRegistryClient,
    SerializationError,
)

if TYPE_CHECKING:
    from tests.unit.serde.tiny_registry import TinyRegistry

SENSOR = """
{"type": "record", "name": "Reading", "namespace": "plant", "fields": [
  {"name": "sensor_id", "type": "string"},
  {"name": "datetime", "type": "long"},
  {"name": "value", "type": ["null", "long"], "default": null}]}
"""
VALUE = {"sensor_id": "mySensor", "datetime": 1234, "value": 999}


def test_the_frame_and_the_subject(server: TinyRegistry, registry: SchemaRegistryClient) -> None:
    serializer = AvroSerializer(registry, SENSOR)
    assert serializer(VALUE, "readings") == bytes.fromhex(
        "0000000001"
    ) + b"\x10mySensor\xa4\x13" + (b"\x02\xce\x0f")
    serializer(VALUE, Context("readings", "key"))
    assert list(server.subjects) == ["readings-value", "readings-key"]
    assert server.bodies[0] == {"schema": SENSOR.strip()}


def test_the_registry_is_asked_once(server: TinyRegistry, registry: SchemaRegistryClient) -> None:
    serializer, deserializer = AvroSerializer(registry, SENSOR), AvroDeserializer(registry)
    for _ in range(5):
        assert deserializer(serializer(VALUE, "readings"), "readings") == VALUE
    payloads = serializer.encode_many([VALUE] * 100, "readings")
    assert deserializer.decode_many(payloads, "readings") == [VALUE] * 100
    assert server.requests == [
        ("POST", "/subjects/readings-value/versions"),
        ("GET", "/schemas/ids/1"),
    ]


@pytest.mark.parametrize(
    ("strategy", "subject"),
    [("topic", "t-value"), ("record", "plant.Reading"), ("topic-record", "t-plant.Reading")],
)
def test_subject_name_strategies(
    server: TinyRegistry, registry: SchemaRegistryClient, strategy: Any, subject: str
) -> None:
    AvroSerializer(registry, SENSOR, subject_name_strategy=strategy)(VALUE, "t")
    assert list(server.subjects) == [subject]


def test_without_auto_registration(server: TinyRegistry, registry: SchemaRegistryClient) -> None:
    serializer = AvroSerializer(registry, SENSOR, auto_register_schemas=False)
    with pytest.raises(RegistryError, match="Schema not found"):
        serializer(VALUE, "readings")
    server.register("readings-value", {"schema": '"int"'})
    server.register("readings-value", {"schema": SENSOR.strip()})
    assert serializer(VALUE, "readings")[:5] == b"\0\0\0\0\2"  # type: ignore[index]
    assert len(server.schemas) == 2


def test_the_latest_version(server: TinyRegistry) -> None:
    with SchemaRegistryClient(server.url, latest_ttl_s=0) as registry:
        serializer = AvroSerializer(registry, use_latest_version=True)
        deserializer = AvroDeserializer(registry, use_latest_version=True)
        server.register("t-value", {"schema": '"int"'})
        first = serializer(7, "t")
        assert first == b"\0\0\0\0\1\x0e"
        server.register("t-value", {"schema": '"long"'})
        assert serializer(2**40, "t")[:5] == b"\0\0\0\0\2"  # type: ignore[index]
        server.register("t-value", {"schema": '"double"'})
        value = deserializer(first, "t")
    assert (type(value), value) == (float, 7.0)


def test_the_latest_version_is_kept_for_a_while(
    server: TinyRegistry, registry: SchemaRegistryClient
) -> None:
    server.register("t-value", {"schema": '"int"'})
    serializer = AvroSerializer(registry, use_latest_version=True)
    serializer.encode_many([1, 2, 3], "t")
    serializer(4, "t")
    assert len(server.requests) == 1


def test_a_schema_by_its_id(server: TinyRegistry, registry: SchemaRegistryClient) -> None:
    server.register("anything", {"schema": '"int"'})
    server.register("anything", {"schema": '"string"'})
    assert AvroSerializer(registry, use_schema_id=2)("a", "t") == b"\0\0\0\0\2\x02a"
    assert list(server.subjects) == ["anything"]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"schema": '"int"', "use_latest_version": True, "auto_register_schemas": True},
        {"schema": '"int"', "use_schema_id": 1, "auto_register_schemas": True},
        {"schema": '"int"', "subject_name_strategy": "no such"},
        {"schema": Schema('"int"', "JSON")},
    ],
)
def test_settings_that_contradict(registry: SchemaRegistryClient, settings: Any) -> None:
    with pytest.raises(ValueError, match=r"give|subject name strategy|type AVRO"):
        AvroSerializer(registry, **settings)


def test_reading_with_another_schema(registry: SchemaRegistryClient) -> None:
    data = AvroSerializer(registry, SENSOR)(VALUE, "readings")
    newer = SENSOR.replace('"long"},', '"double"},').replace(
        "]}", ', {"name": "unit", "type": "string", "default": "C"}]}'
    )
    assert AvroDeserializer(registry, newer)(data, "readings") == {
        **VALUE,
        "datetime": 1234.0,
        "unit": "C",
    }
    narrow = """{"type": "record", "name": "Reading", "namespace": "plant", "fields": [
        {"name": "datetime", "type": "long"}]}"""
    assert AvroDeserializer(registry, narrow)(data, "readings") == {"datetime": 1234}
    demanding = SENSOR.replace("]}", ', {"name": "unit", "type": "string"}]}')
    with pytest.raises(DeserializationError, match=r"^readings, value: .*unit"):
        AvroDeserializer(registry, demanding)(data, "readings")


def test_objects(registry: SchemaRegistryClient) -> None:
    @dataclass
    class Reading:
        sensor_id: str
        datetime: int
        value: int | None = None

    serializer = AvroSerializer(registry, SENSOR, to_dict=lambda reading, _: vars(reading))
    deserializer = AvroDeserializer(
        registry, from_dict=lambda fields, place: (place.topic, Reading(**fields))
    )
    reading = Reading("a", 5)
    assert deserializer(serializer(reading, "t"), "t") == ("t", reading)


def test_references_also_in_a_diamond(server: TinyRegistry, registry: SchemaRegistryClient) -> None:
    def record(name: str, *types: str) -> str:
        fields = ",".join(f'{{"name":"f{n}","type":"{each}"}}' for n, each in enumerate(types))
        return f'{{"type":"record","namespace":"d","name":"{name}","fields":[{fields}]}}'

    def refer(*names: str) -> list[dict[str, Any]]:
        return [{"name": f"d.{name}", "subject": name, "version": 1} for name in names]

    server.register("Bottom", {"schema": record("Bottom", "int")})
    for side in ("Left", "Right"):
        server.register(side, {"schema": record(side, "Bottom"), "references": refer("Bottom")})
    top = Schema(
        record("Top", "Left", "d.Right", "Bottom"),
        references=tuple(Reference(f"d.{name}", name, 1) for name in ("Left", "Right", "Bottom")),
    )
    value = {"f0": {"f0": {"f0": 1}}, "f1": {"f0": {"f0": 2}}, "f2": {"f0": 3}}
    data = AvroSerializer(registry, top)(value, "t")
    assert data is not None
    assert data[5:] == b"\x02\x04\x06"
    assert AvroDeserializer(registry)(data, "t") == value
    assert server.schemas[-1]["references"] == refer("Left", "Right", "Bottom")


def test_logical_types_and_chosen_branches(registry: SchemaRegistryClient) -> None:
    schema = """{"type": "record", "name": "R", "fields": [
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal",
                                   "precision": 10, "scale": 2}},
        {"name": "either", "type": ["int", "long", "string"]}]}"""
    value = {
        "at": datetime.datetime(2026, 5, 1, tzinfo=datetime.UTC),
        "price": decimal.Decimal("12.34"),
        "either": ("long", 5),
    }
    data = AvroSerializer(registry, schema)(value, "t")
    assert data is not None
    assert data.endswith(b"\x02\x0a")
    assert AvroDeserializer(registry)(data, "t") == {**value, "either": 5}


@pytest.mark.parametrize("schema", ['"bytes"', '{"type": "bytes"}'])
def test_bytes_alone_have_no_length(registry: SchemaRegistryClient, schema: str) -> None:
    serializer = AvroSerializer(registry, schema)
    assert serializer(b"\1\2\3", "t") == b"\0\0\0\0\1\1\2\3"
    assert serializer("ü", "t") == b"\0\0\0\0\1" + "ü".encode()
    assert AvroDeserializer(registry)(b"\0\0\0\0\1\1\2\3", "t") == b"\1\2\3"
    with pytest.raises(SerializationError):
        serializer(5, "t")


def test_the_guid_in_front_or_in_a_header(
    server: TinyRegistry, registry: SchemaRegistryClient
) -> None:
    server.register("t-value", {"schema": '"string"'})
    guid = b"\1" + server.guid(1).bytes
    deserializer = AvroDeserializer(registry)
    assert deserializer(guid + b"\x02a", "t") == "a"
    headers = [("other", b"x"), ("__value_schema_id", guid), ("__key_schema_id", b"no")]
    assert deserializer(b"\x02a", Context("t", headers=headers)) == "a"
    assert deserializer(b"\x02a", Context("t", headers=dict(headers))) == "a"
    by_id = [("__key_schema_id", b"\0\0\0\0\1")]
    assert deserializer(b"\x02a", Context("t", "key", headers=by_id)) == "a"
    assert deserializer.decode_many(
        [b"\x02a", b"\0\0\0\0\1\x02b"], "t", headers=[headers, None]
    ) == ["a", "b"]
    with pytest.raises(DeserializationError, match=r"GUID 00000000-.* does not know"):
        deserializer(b"\1" + bytes(16), "t")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is empty"),
        (b"{}", "not written with a schema from a registry"),
        (b"\0\0\0\0\x09x", "schema of id 9, which http://.* does not know"),
        (b"\0\0\0\0\2{}", "a schema of type JSON, not AVRO"),
        (b"\0\0\0\0\1\x10my", ""),
        (b"\0\0\0\0\1", ""),
        (b"\0\0\0\0\1\x02\xff\0\0", "can't decode byte 0xff"),
        (b"\0\0\0\0\1\x02a\0\x08", ""),
        (b"\0\0\0\0\3x", "this is no Avro schema"),
    ],
)
def test_a_malformed_payload_says_where_and_why(
    server: TinyRegistry, registry: SchemaRegistryClient, data: bytes, reason: str
) -> None:
    server.register("t-value", {"schema": SENSOR})
    server.register("t-value", {"schema": "{}", "schemaType": "JSON"})
    server.register("t-value", {"schema": '{"type": "no such type"}'})
    place = Context("t", partition=2, offset=40)
    with pytest.raises(
        DeserializationError, match=rf"^t \[2\] at offset 40, value: .*{reason}"
    ) as caught:
        AvroDeserializer(registry)(data, place)
    assert caught.value.reason


def test_a_registry_that_is_away_is_not_the_payloads_fault(registry: SchemaRegistryClient) -> None:
    data = AvroSerializer(registry, '"int"')(5, "t")
    nowhere = SchemaRegistryClient("http://127.0.0.1:1", retries=0)
    malformed: list[DeserializationError] = []
    with pytest.raises(Exception, match="no schema registry answered"):
        AvroDeserializer(nowhere).decode_many([data], "t", on_error=malformed.append)
    assert malformed == []


def test_messages_know_where_they_are(registry: SchemaRegistryClient) -> None:
    class Message:
        def topic(self) -> str:
            return "t"

        def partition(self) -> int:
            return 4

        def offset(self) -> int:
            return 7

        def headers(self) -> None:
            return None

        def key(self) -> bytes | None:
            return None

        def value(self) -> bytes | None:
            return b"no"

    deserializer = AvroDeserializer(registry)
    assert deserializer.key_of(Message()) is None
    with pytest.raises(DeserializationError, match=r"^t \[4\] at offset 7, value: "):
        deserializer.value_of(Message())


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"sensor_id": 5, "datetime": 1}, "sensor_id"),
        ({"datetime": 1}, "sensor_id"),
        ({"sensor_id": "a", "datetime": 2**70}, ""),
        ({"sensor_id": "a", "datetime": 1, "value": "x"}, "null|union"),
        ("text", ""),
    ],
)
def test_a_value_that_does_not_fit(registry: SchemaRegistryClient, value: Any, reason: str) -> None:
    with pytest.raises(SerializationError, match=f"^t, value: .*{reason}"):
        AvroSerializer(registry, SENSOR)(value, "t")


def test_strict_fields(registry: SchemaRegistryClient) -> None:
    without_default = {"sensor_id": "a", "datetime": 1}
    with pytest.raises(SerializationError):
        AvroSerializer(registry, SENSOR, strict=True)(without_default, "t")
    lenient = AvroSerializer(registry, SENSOR, strict_allow_default=True)
    assert lenient(without_default, "t") is not None
    with pytest.raises(SerializationError):
        lenient({**without_default, "more": 1}, "t")


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ("{", "not JSON"),
        ('{"type": "record"}', "no Avro schema"),
        ('"no.such.Type"', "uses 'no.such.Type', which it neither defines nor refers to"),
        ('{"type": "record", "name": "R", "fields": 5}', "no Avro schema"),
        ('{"type": "enum", "name": "E", "symbols": [1]}', "no Avro schema"),
        ("5", "no Avro schema"),
        ("[" * 5000 + "]" * 5000, "no Avro schema"),
    ],
)
def test_what_is_no_schema(registry: SchemaRegistryClient, schema: str, reason: str) -> None:
    with pytest.raises(SchemaError, match=reason):
        AvroSerializer(registry, schema)
    with pytest.raises(SchemaError, match=reason):
        AvroDeserializer(registry, schema)


def test_they_can_be_pickled(registry: SchemaRegistryClient) -> None:
    serializer = AvroSerializer(registry, SENSOR, subject_name_strategy=own_strategy)
    deserializer = AvroDeserializer(registry, SENSOR)
    data = serializer(VALUE, "t")
    assert deserializer(data, "t") == VALUE
    copied = pickle.loads(pickle.dumps(serializer)), pickle.loads(pickle.dumps(deserializer))
    assert copied[0](VALUE, "t") == data
    assert copied[1](data, "t") == VALUE


def own_strategy(context: Context, record: str | None) -> str:
    return f"{context.topic}/{record}"
