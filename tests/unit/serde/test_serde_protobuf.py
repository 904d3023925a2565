"""Protobuf: generated classes and .proto text, several messages in a file, imports, evolution."""

from __future__ import annotations

import base64
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from google.api import monitored_resource_pb2  # type: ignore[import-untyped]
from google.type import money_pb2  # type: ignore[import-untyped]

from headwater.serde import (
    Context,
    DeserializationError,
    ProtobufDeserializer,
    ProtobufJsonDeserializer,
    ProtobufSerializer,
    Reference,
    Schema,
    SchemaError,
    SerializationError,
)

if TYPE_CHECKING:
    from tests.unit.serde.tiny_registry import TinyRegistry

    from headwater.serde import SchemaRegistryClient

PLANT = """syntax = "proto3";
package plant;
message Reading {
  string sensor_id = 1;
  int64 datetime = 2;
  optional int64 value = 3;
  map<string, int32> counts = 4;
  Unit unit = 5;
  message Place { string hall = 1; }
  Place place = 6;
}
message Alarm { string text = 1; message Level { int32 level = 1; } }
enum Unit { CELSIUS = 0; KELVIN = 1; }
"""
READING = {"sensor_id": "mySensor", "datetime": "1234", "value": "999"}
READING_BYTES = b"\x0a\x08mySensor\x10\xd2\x09\x18\xe7\x07"


def test_the_first_message_of_a_text(server: TinyRegistry, registry: SchemaRegistryClient) -> None:
    serializer = ProtobufSerializer(registry, PLANT)
    data = serializer(READING, "readings")
    assert data == b"\0\0\0\0\1" + b"\0" + READING_BYTES
    assert server.bodies == [{"schema": PLANT.strip(), "schemaType": "PROTOBUF"}]
    message: Any = ProtobufDeserializer(registry)(data, "readings")
    assert (message.sensor_id, message.datetime, message.value) == ("mySensor", 1234, 999)
    assert message.DESCRIPTOR.full_name == "plant.Reading"
    assert serializer(message, "readings") == data
    assert serializer.encode_many([message, None], "readings") == [data, None]


@pytest.mark.parametrize(
    ("name", "value", "frame"),
    [
        ("Alarm", {"text": "hot"}, "0202"),
        ("plant.Alarm.Level", {"level": 3}, "040200"),
        ("Reading.Place", {"hall": "A"}, "040002"),
    ],
)
def test_other_messages_of_the_file(
    registry: SchemaRegistryClient, name: str, value: Any, frame: str
) -> None:
    data = ProtobufSerializer(registry, PLANT, message=name)(value, "t")
    assert data is not None
    assert data[5:].startswith(bytes.fromhex(frame))
    assert ProtobufJsonDeserializer(registry)(data, "t") == value
    message: Any = ProtobufDeserializer(registry)(data, "t")
    assert message.DESCRIPTOR.full_name == f"plant.{name.removeprefix('plant.')}"


def test_indexes_that_leave_map_entries_out(registry: SchemaRegistryClient) -> None:
    ProtobufSerializer(registry, PLANT)(READING, "t")
    data = b"\0\0\0\0\1" + bytes.fromhex("040000") + b"\x0a\x01A"
    assert ProtobufJsonDeserializer(registry)(data, "t") == {"hall": "A"}


def test_json_has_the_names_and_defaults(registry: SchemaRegistryClient) -> None:
    data = ProtobufSerializer(registry, PLANT)({"sensorId": "a", "unit": "KELVIN"}, "t")
    assert ProtobufJsonDeserializer(registry)(data, "t") == {
        "sensor_id": "a",
        "datetime": "0",
        "counts": {},
        "unit": "KELVIN",
    }


def test_a_generated_class(server: TinyRegistry, registry: SchemaRegistryClient) -> None:
    serializer = ProtobufSerializer(registry, money_pb2.Money)
    money = money_pb2.Money(currency_code="EUR", units=12)
    data = serializer(money, "prices")
    assert data == b"\0\0\0\0\1\0" + money.SerializeToString()
    registered = base64.b64decode(server.schemas[0]["schema"])
    assert registered == money_pb2.DESCRIPTOR.serialized_pb
    read = ProtobufDeserializer(registry, money_pb2.Money)(data, "prices")
    assert (type(read), read) == (money_pb2.Money, money)
    as_written: Any = ProtobufDeserializer(registry)(data, "prices")
    assert (as_written.currency_code, as_written.units) == ("EUR", 12)
    assert serializer({"currency_code": "EUR", "units": 12}, "prices") == data


def test_imports_of_a_generated_class_are_registered(
    server: TinyRegistry, registry: SchemaRegistryClient
) -> None:
    serializer = ProtobufSerializer(registry, monitored_resource_pb2.MonitoredResource)
    value = monitored_resource_pb2.MonitoredResource(type="vm", labels={"zone": "a"})
    data = serializer(value, "resources")
    assert list(server.subjects) == [
        "google/api/label.proto",
        "google/api/launch_stage.proto",
        "resources-value",
    ]
    assert server.schemas[-1]["references"] == [
        {"name": name, "subject": name, "version": 1}
        for name in ("google/api/label.proto", "google/api/launch_stage.proto")
    ]
    assert ProtobufJsonDeserializer(registry)(data, "resources") == {
        "type": "vm",
        "labels": {"zone": "a"},
    }
    again = ProtobufSerializer(
        registry, monitored_resource_pb2.MonitoredResource, auto_register_schemas=False
    )
    assert again(value, "resources") == data


def test_references_of_a_text(server: TinyRegistry, registry: SchemaRegistryClient) -> None:
    common = 'syntax = "proto3"; package c; message Id { int32 id = 1; }'
    server.register("common", {"schema": common, "schemaType": "PROTOBUF"})
    order = Schema(
        """syntax = "proto3"; import "common.proto"; import "google/protobuf/timestamp.proto";
        message Order { c.Id id = 1; google.protobuf.Timestamp at = 2; }""",
        "PROTOBUF",
        (Reference("common.proto", "common", 1),),
    )
    value = {"id": {"id": 7}, "at": "2026-05-01T10:00:00Z"}
    data = ProtobufSerializer(registry, order)(value, "orders")
    assert ProtobufJsonDeserializer(registry)(data, "orders") == value


def test_evolution(server: TinyRegistry, registry: SchemaRegistryClient) -> None:
    data = ProtobufSerializer(registry, PLANT)(READING, "readings")
    newer = PLANT.replace("string sensor_id", "string sensor").replace(
        "int64 datetime = 2;", "string hall = 9;"
    )
    message: Any = ProtobufDeserializer(registry, newer)(data, "readings")
    assert (message.sensor, message.hall, message.value) == ("mySensor", "", 999)
    # What the reader does not know is kept, and goes on with the message.
    assert b"\x10\xd2\x09" in message.SerializeToString()
    server.register("readings-value", {"schema": newer, "schemaType": "PROTOBUF"})
    latest: Any = ProtobufDeserializer(registry, use_latest_version=True)(data, "readings")
    assert latest.sensor == "mySensor"
    written = ProtobufSerializer(registry, use_latest_version=True)({"sensor": "a"}, "readings")
    assert written == b"\0\0\0\0\2\0\x0a\x01a"


def test_the_guid_and_the_indexes_in_a_header(
    server: TinyRegistry, registry: SchemaRegistryClient
) -> None:
    server.register("t-value", {"schema": PLANT, "schemaType": "PROTOBUF"})
    header = b"\1" + server.guid(1).bytes + b"\x02\x02"
    place = Context("t", headers=[("__value_schema_id", header)])
    assert ProtobufJsonDeserializer(registry)(b"\x0a\x01x", place) == {"text": "x"}
    assert ProtobufJsonDeserializer(registry)(header + b"\x0a\x01x", "t") == {"text": "x"}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\0\0\0\0\1", "ends in the middle of the message indexes"),
        (b"\0\0\0\0\1\x02\x0e", "no message at the index 7"),
        (b"\0\0\0\0\1\x02\x01", "no message at the index -1"),
        (b"\0\0\0\0\1\0\x0a\x7fx", "[Pp]ars"),
        (b"\0\0\0\0\2\0", "this is no Protobuf schema"),
    ],
)
def test_a_malformed_payload(
    server: TinyRegistry, registry: SchemaRegistryClient, data: bytes, reason: str
) -> None:
    server.register("t-value", {"schema": PLANT, "schemaType": "PROTOBUF"})
    server.register("t-value", {"schema": "no schema", "schemaType": "PROTOBUF"})
    with pytest.raises(DeserializationError, match=rf"^t \[0\] at offset 1, value: .*{reason}"):
        ProtobufDeserializer(registry)(data, Context("t", partition=0, offset=1))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"no_such": 1}, "no_such"),
        ({"datetime": "x"}, "datetime"),
        (money_pb2.Money(), "a plant.Reading is wanted, not a google.type.Money"),
        ("text", ""),
    ],
)
def test_a_value_that_does_not_fit(registry: SchemaRegistryClient, value: Any, reason: str) -> None:
    with pytest.raises(SerializationError, match=f"^t, value: .*{reason}"):
        ProtobufSerializer(registry, PLANT)(value, "t")


@pytest.mark.parametrize(
    ("schema", "message", "reason"),
    [
        ("message {", None, "no Protobuf schema"),
        ('syntax = "proto3"; import "away.proto"; message M { Away a = 1; }', None, "away.proto"),
        ('syntax = "proto3"; message M { NoSuch n = 1; }', None, "NoSuch"),
        (PLANT, "NoSuch", "no message 'NoSuch'; it has Reading, Alarm"),
        ('syntax = "proto3";', None, "no message at the index 0"),
    ],
)
def test_what_is_no_schema(
    registry: SchemaRegistryClient, schema: str, message: str | None, reason: str
) -> None:
    with pytest.raises(SchemaError, match=reason):
        ProtobufSerializer(registry, schema, message=message)


def test_they_can_be_pickled(registry: SchemaRegistryClient) -> None:
    for schema in (PLANT, money_pb2.Money):
        serializer = ProtobufSerializer(registry, schema)
        data = serializer({}, "t")
        assert pickle.loads(pickle.dumps(serializer))({}, "t") == data
        deserializer = ProtobufDeserializer(registry, schema)
        assert deserializer(data, "t") == pickle.loads(pickle.dumps(deserializer))(data, "t") or (
            schema is PLANT  # each copy makes messages of a class of its own
        )


def test_the_subject_named_after_the_record(
    server: TinyRegistry, registry: SchemaRegistryClient
) -> None:
    ProtobufSerializer(registry, PLANT, message="Alarm", subject_name_strategy="record")({}, "t")
    assert list(server.subjects) == ["plant.Alarm"]
