"""Columns of payloads and values, compared with the serialisers for single values."""

from __future__ import annotations

import pickle
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from headwater.serde import (
    AvroDeserializer,
    AvroSerializer,
    JsonSchemaSerializer,
    ProtobufSerializer,
    RegistryUnreachableError,
    Schema,
    SchemaError,
    SchemaRegistryClient,
    SerializationError,
)
from headwater.serde.arrow import ArrowDeserializer, ArrowSerializer
from headwater.serde.schema import Reference

if TYPE_CHECKING:
    from tests.unit.serde.tiny_registry import TinyRegistry

OLD = """{"type": "record", "name": "Reading", "namespace": "plant", "fields": [
  {"name": "sensor", "type": "string"}, {"name": "count", "type": "int"},
  {"name": "gone", "type": "double"}]}"""
NEW = """{"type": "record", "name": "Reading", "namespace": "plant", "fields": [
  {"name": "count", "type": "long"}, {"name": "sensor", "type": "string"},
  {"name": "unit", "type": ["null", "string"], "default": null}]}"""
RICH = """{"type": "record", "name": "Rich", "fields": [
  {"name": "day", "type": {"type": "int", "logicalType": "date"}},
  {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
  {"name": "fine", "type": {"type": "long", "logicalType": "timestamp-micros"}},
  {"name": "clock", "type": {"type": "int", "logicalType": "time-millis"}},
  {"name": "price",
   "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
  {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
  {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["HOT", "COLD"]}},
  {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 2}},
  {"name": "tags", "type": {"type": "array", "items": ["null", "string"]}},
  {"name": "times",
   "type": {"type": "array", "items": {"type": "long", "logicalType": "timestamp-millis"}}},
  {"name": "limits", "type": {"type": "map", "values": "double"}},
  {"name": "any", "type": ["null", "string", "long", {"type": "map", "values": "int"},
     {"type": "record", "name": "Point", "fields": [{"name": "x", "type": "int"}]}]},
  {"name": "wide", "type": ["int", "long"]},
  {"name": "where", "type": ["null", "Point"]}]}"""
RICH_VALUE: dict[str, Any] = {
    "day": date(2026, 11, 15),
    "at": datetime(2026, 11, 15, 8, 30, 0, 123000, tzinfo=UTC),
    "fine": datetime(2026, 11, 15, 8, 30, 0, 123456, tzinfo=UTC),
    "clock": time(8, 30, 0, 5000),
    "price": Decimal("12.34"),
    "id": "12345678-1234-5678-1234-567812345678",
    "kind": "COLD",
    "hash": b"\x01\x02",
    "tags": ["a", None],
    "times": [datetime(2026, 1, 1, tzinfo=UTC)],
    "limits": [("low", 1.5)],
    "any": None,
    "wide": 2**40,
    "where": {"x": 3},
}
MEMBERS: dict[str, Any] = dict.fromkeys(("member0", "member1", "member2", "member3"))


def payloads(*given: bytes | None) -> pa.Array:
    return pa.array(given, pa.binary())


def test_several_writers_are_read_as_one_reader_wants(registry: SchemaRegistryClient) -> None:
    old, new = AvroSerializer(registry, OLD), AvroSerializer(registry, NEW)
    column = payloads(
        old({"sensor": "a", "count": 1, "gone": 0.5}, "t"),
        new({"sensor": "b", "count": 2**40, "unit": "C"}, "t"),
        None,
        b"\0\0\0\0\1\x02",
        b"text",
        b"\0\0\0\0\x63rest",
        old({"sensor": "c", "count": 3, "gone": 0.5}, "t"),
    )
    deserializer = ArrowDeserializer("avro", registry, NEW)
    values, errors = deserializer.decode(column)
    assert values.type == deserializer.type
    assert values.to_pylist() == [
        {"count": 1, "sensor": "a", "unit": None},
        {"count": 2**40, "sensor": "b", "unit": "C"},
        None,
        None,
        None,
        None,
        {"count": 3, "sensor": "c", "unit": None},
    ]
    reasons = errors.to_pylist()
    assert [reason is None for reason in reasons] == [True, True, True, False, False, False, True]
    assert "magic byte" in reasons[4]
    assert "id 99" in reasons[5]


def test_without_a_reader_the_newest_writer_is_taken(registry: SchemaRegistryClient) -> None:
    deserializer = ArrowDeserializer("avro", registry)
    old, new = AvroSerializer(registry, OLD), AvroSerializer(registry, NEW)
    first = old({"sensor": "a", "count": 1, "gone": 0.5}, "t")
    values, _ = deserializer.decode(payloads(first))
    assert values.to_pylist() == [{"sensor": "a", "count": 1, "gone": 0.5}]
    values, _ = deserializer.decode(
        payloads(new({"sensor": "b", "count": 2, "unit": None}, "t"), first)
    )
    assert values.to_pylist()[1] == {"count": 1, "sensor": "a", "unit": None}
    values, errors = deserializer.decode(payloads(None, b"?"))
    assert values.to_pylist() == [None, None]
    assert errors.null_count == 1
    with pytest.raises(ValueError, match="depends on what is read"):
        _ = deserializer.type


@pytest.mark.parametrize(
    ("member", "written"),
    [
        (None, None),
        ({**MEMBERS, "member0": "text"}, "text"),
        ({**MEMBERS, "member1": 5}, 5),
        ({**MEMBERS, "member2": [("a", 1)]}, {"a": 1}),
        ({**MEMBERS, "member3": {"x": 7}}, ("Point", {"x": 7})),
    ],
)
def test_avro_of_every_kind_goes_round(
    registry: SchemaRegistryClient, member: Any, written: Any
) -> None:
    alone = {**RICH_VALUE, "limits": dict(RICH_VALUE["limits"]), "any": written}
    single = AvroSerializer(registry, RICH)(alone, "t")
    values, errors = ArrowDeserializer("avro", registry, RICH).decode(payloads(single))
    assert errors.to_pylist() == [None]
    assert values.to_pylist() == [{**RICH_VALUE, "any": member}]
    encoded = ArrowSerializer("avro", registry, RICH, topic="t").encode(values)
    assert encoded.to_pylist() == [single]


def test_avro_that_is_no_record(registry: SchemaRegistryClient) -> None:
    for text, value in (('"string"', "a"), ('"bytes"', b"raw"), ('["null", "long"]', 7)):
        single = AvroSerializer(registry, text)(value, f"t-{value!r}")
        values, _ = ArrowDeserializer("avro", registry, text).decode(payloads(single, None))
        assert values.to_pylist() == [value, None]
        encoded = ArrowSerializer("avro", registry, text, topic=f"t-{value!r}").encode(values)
        assert encoded.to_pylist() == [single, None]


def test_a_schema_that_contains_itself_is_refused_with_the_reason(
    registry: SchemaRegistryClient,
) -> None:
    tree = """{"type": "record", "name": "Tree", "fields": [
      {"name": "children", "type": {"type": "array", "items": "Tree"}}]}"""
    for kind, text in (
        ("avro", tree),
        ("protobuf", 'syntax = "proto3"; message Tree { repeated Tree children = 1; }'),
        ("jsonschema", '{"type": "object", "properties": {"child": {"$ref": "#"}}}'),
    ):
        with pytest.raises(SchemaError, match="contains itself"):
            _ = ArrowDeserializer(kind, registry, text).type  # type: ignore[arg-type]


PROTO = """syntax = "proto3";
package plant;
import "google/protobuf/timestamp.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/wrappers.proto";
import "google/protobuf/struct.proto";
message First { int32 unused = 1; }
message Reading {
  message Place { string hall = 1; optional int32 row = 2; }
  enum Kind { UNKNOWN = 0; HOT = 1; }
  string sensor = 1;
  uint64 big = 2;
  uint32 middle = 3;
  optional double value = 4;
  Kind kind = 5;
  Place place = 6;
  repeated Place visited = 7;
  map<string, int64> counts = 8;
  google.protobuf.Timestamp at = 9;
  google.protobuf.Duration took = 10;
  google.protobuf.StringValue note = 11;
  google.protobuf.Struct extra = 12;
  oneof either { string left = 13; bytes right = 14; }
  map<int32, Place> places = 15;
  repeated int32 numbers = 16;
}
"""


def test_protobuf_of_every_kind_goes_round(registry: SchemaRegistryClient) -> None:
    empty = {
        "sensor": "",
        "big": Decimal(0),
        "middle": 0,
        "value": None,
        "kind": "UNKNOWN",
        "place": None,
        "visited": [],
        "counts": [],
        "at": None,
        "took": None,
        "note": None,
        "extra": None,
        "left": None,
        "right": None,
        "places": [],
        "numbers": [],
    }
    full = {
        "sensor": "boiler",
        "big": Decimal(2**64 - 1),
        "middle": 2**32 - 1,
        "value": 0.0,
        "kind": "HOT",
        "place": {"hall": "A", "row": 0},
        "visited": [{"hall": "A", "row": None}, {"hall": "B", "row": 2}],
        "counts": [("a", -1)],
        "at": datetime(2026, 11, 15, 8, 30, 0, 123456, tzinfo=UTC),
        "took": timedelta(seconds=-1, microseconds=-500),
        "note": "",
        "extra": '{"a":[1.0,null]}',
        "left": None,
        "right": b"\xff",
        "places": [(3, {"hall": "C", "row": None})],
        "numbers": [1, 2, 3],
    }
    single = ProtobufSerializer(registry, PROTO, message="Reading")
    alone = [
        single({}, "t"),
        single(
            {
                "sensor": "boiler",
                "big": str(2**64 - 1),
                "middle": 2**32 - 1,
                "value": 0.0,
                "kind": "HOT",
                "place": {"hall": "A", "row": 0},
                "visited": [{"hall": "A"}, {"hall": "B", "row": 2}],
                "counts": {"a": -1},
                "at": "2026-11-15T08:30:00.123456Z",
                "took": "-1.0005s",
                "note": "",
                "extra": {"a": [1, None]},
                "right": "/w==",
                "places": {"3": {"hall": "C"}},
                "numbers": [1, 2, 3],
            },
            "t",
        ),
        None,
    ]
    deserializer = ArrowDeserializer("protobuf", registry, PROTO, message="Reading")
    values, errors = deserializer.decode(payloads(*alone, alone[1][:-1]))  # type: ignore[index]
    assert values.type == deserializer.type
    assert values.to_pylist() == [empty, full, None, None]
    assert [reason is None for reason in errors.to_pylist()] == [True, True, True, False]
    encoded = ArrowSerializer("protobuf", registry, PROTO, topic="t", message="Reading").encode(
        values.slice(0, 3)
    )
    assert encoded.to_pylist() == alone
    again = ArrowSerializer("protobuf", registry, PROTO, topic="t", message="Reading").encode(
        values.slice(1, 2)
    )
    assert again.to_pylist() == alone[1:]


def test_an_enum_value_of_a_newer_protobuf_schema_stays_readable(
    registry: SchemaRegistryClient,
) -> None:
    old = 'syntax = "proto3"; enum K { A = 0; } message M { K k = 1; }'
    new = 'syntax = "proto3"; enum K { A = 0; B = 5; } message M { K k = 1; }'
    data = ProtobufSerializer(registry, new)({"k": "B"}, "t")
    values, _ = ArrowDeserializer("protobuf", registry, old).decode(payloads(data))
    assert values.to_pylist() == [{"k": "5"}]
    written = ArrowSerializer("protobuf", registry, new, topic="t")
    assert written.encode(values).to_pylist() == [data]
    with pytest.raises(SerializationError, match="has no value 'Z'; it has A, B"):
        written.encode(pa.array([{"k": "Z"}]))


ORDER = """{"type": "object", "title": "Order",
  "properties": {
    "id": {"type": "integer"},
    "price": {"type": ["number", "null"]},
    "note": {"oneOf": [{"type": "null"}, {"type": "string"}]},
    "lines": {"type": "array", "items": {"$ref": "#/definitions/line"}},
    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    "kind": {"enum": ["new", "old"]},
    "anything": {},
    "customer": {"$ref": "customer.json"},
    "both": {"allOf": [{"type": "object", "properties": {"a": {"type": "boolean"}}},
                       {"properties": {"b": {"const": 5}}}]}},
  "required": ["id"], "additionalProperties": false,
  "definitions": {"line": {"type": "object", "properties": {"sku": {"type": "string"}}}}}"""


def test_json_schema_of_every_kind_goes_round(registry: SchemaRegistryClient) -> None:
    customer = '{"type": "object", "properties": {"name": {"type": "string"}}}'
    registry.register_schema("customer", Schema(customer, "JSON"))
    schema = Schema(ORDER, "JSON", (Reference("customer.json", "customer", 1),))
    values: list[dict[str, Any]] = [
        {
            "id": 1,
            "price": 2.5,
            "note": "n",
            "lines": [{"sku": "s"}],
            "labels": {"a": "b"},
            "kind": "new",
            "anything": {"deep": [1, "two"]},
            "customer": {"name": "Ann"},
            "both": {"a": True, "b": 5},
        },
        {"id": 2},
    ]
    single = JsonSchemaSerializer(registry, schema)
    alone = [single(value, "t") for value in values]
    deserializer = ArrowDeserializer("jsonschema", registry, schema)
    column, errors = deserializer.decode(
        payloads(*alone, alone[0][:5] + b'{"id":"x"}', alone[0][:5] + b"{", None)  # type: ignore[index]
    )
    read = column.to_pylist()
    assert read[0] == {
        **values[0],
        "labels": [("a", "b")],
        "anything": '{"deep":[1,"two"]}',
    }
    assert read[1] == {**dict.fromkeys(read[0]), "id": 2}
    assert read[2:] == [None, None, None]
    reasons = errors.to_pylist()
    assert reasons[2].startswith("the schema does not allow it: id:")
    assert "not JSON" in reasons[3]
    encoded = ArrowSerializer("jsonschema", registry, schema, topic="t").encode(column.slice(0, 2))
    assert encoded.to_pylist() == alone
    with pytest.raises(SerializationError, match=r"row 0 of the column: the schema does not allow"):
        ArrowSerializer("jsonschema", registry, schema, topic="t").encode(
            pa.array([{"kind": "new"}])
        )


def test_a_number_beyond_64_bits_is_a_malformed_payload(registry: SchemaRegistryClient) -> None:
    schema = '{"type": "object", "properties": {"n": {"type": "integer"}}}'
    single = JsonSchemaSerializer(registry, schema)
    column = payloads(single({"n": 1}, "t"), single({"n": 2**70}, "t"))
    values, errors = ArrowDeserializer("jsonschema", registry, schema).decode(column)
    assert values.to_pylist() == [{"n": 1}, None]
    assert errors.to_pylist()[1].startswith("it does not fit struct<n: int64>")


def test_a_large_whole_number_is_a_double_where_the_schema_says_number(
    registry: SchemaRegistryClient,
) -> None:
    schema = """{"type": "object", "properties": {"n": {"type": "number"},
      "all": {"type": "array", "items": {"type": "number"}}}}"""
    single = JsonSchemaSerializer(registry, schema)
    written = [{"n": 2**60 + 1, "all": [1, 2**70]}, {"n": 1}, {"n": 10**400}]
    column = payloads(*(single(value, "t") for value in written))
    values, errors = ArrowDeserializer("jsonschema", registry, schema).decode(column)
    assert values.to_pylist() == [
        {"n": 2.0**60, "all": [1.0, 2.0**70]},
        {"n": 1.0, "all": None},
        None,
    ]
    assert errors.null_count == 2


def test_formats_without_a_schema() -> None:
    for kind, value, data in (
        ("string", "Köln", "Köln".encode()),
        ("bytes", b"\xff", b"\xff"),
        ("int", -2, b"\xff" * 3 + b"\xfe"),
        ("long", -2, b"\xff" * 7 + b"\xfe"),
        ("double", 1.5, bytes.fromhex("3ff8000000000000")),
    ):
        encoded = ArrowSerializer(kind).encode(pa.array([value, None]))  # type: ignore[arg-type]
        assert encoded.to_pylist() == [data, None]
        values, errors = ArrowDeserializer(kind).decode(encoded)  # type: ignore[arg-type]
        assert (values.to_pylist(), errors.null_count) == ([value, None], 2)
    _, errors = ArrowDeserializer("string").decode(payloads(b"\xff"))
    assert "utf-8" in errors.to_pylist()[0]


def test_json_has_the_type_that_it_is_given() -> None:
    wanted = pa.struct([("a", pa.int64()), ("b", pa.list_(pa.string()))])
    values, errors = ArrowDeserializer("json", None, wanted).decode(
        payloads(b'{"a": 1, "c": 2}', b'{"a": "x"}', b"{")
    )
    assert values.to_pylist() == [{"a": 1, "b": None}, None, None]
    assert errors.null_count == 1
    assert ArrowSerializer("json").encode(values).to_pylist() == [b'{"a":1}', None, None]


def test_the_schema_may_stand_in_a_header(
    registry: SchemaRegistryClient, server: TinyRegistry
) -> None:
    data = AvroSerializer(registry, OLD)({"sensor": "a", "count": 1, "gone": 0.5}, "t")
    assert data is not None
    header = b"\1" + server.guid(1).bytes
    values, errors = ArrowDeserializer("avro", registry, OLD).decode(
        payloads(data[5:], data), payloads(header, None)
    )
    assert errors.null_count == 2
    assert values[0] == values[1]
    assert values.to_pylist()[0] == AvroDeserializer(registry)(data, "t")


def test_fields_are_found_by_name_and_cast(registry: SchemaRegistryClient) -> None:
    serializer = ArrowSerializer("avro", registry, NEW, topic="t")
    column = pa.chunked_array(
        [
            pa.array(
                [{"sensor": "a", "count": 5}],
                pa.struct([("sensor", pa.large_string()), ("count", pa.int16())]),
            )
        ]
    )
    data = serializer.encode(column).to_pylist()[0]
    assert AvroDeserializer(registry)(data, "t") == {"sensor": "a", "count": 5, "unit": None}
    with pytest.raises(SerializationError, match="no field extra; it has count, sensor, unit"):
        serializer.encode(pa.array([{"sensor": "a", "extra": 1}]))
    with pytest.raises(SerializationError, match="row 1 of the column"):
        serializer.encode(pa.array([{"sensor": "a", "count": 1}, {"sensor": None, "count": 1}]))


def test_they_can_be_pickled_and_registered_under_any_subject(
    registry: SchemaRegistryClient, server: TinyRegistry
) -> None:
    serializer = ArrowSerializer(
        "avro", registry, OLD, topic="t", field="key", subject_name_strategy="topic-record"
    )
    column = pa.array([{"sensor": "a", "count": 1, "gone": 0.5}])
    data = pickle.loads(pickle.dumps(serializer)).encode(column)
    assert list(server.subjects) == ["t-plant.Reading"]
    deserializer = pickle.loads(pickle.dumps(ArrowDeserializer("avro", registry, OLD)))
    assert deserializer.decode(data)[0].to_pylist() == column.to_pylist()


def test_an_unreachable_registry_is_no_fault_of_the_payloads() -> None:
    nowhere = SchemaRegistryClient("http://127.0.0.1:9", retries=0)
    with pytest.raises(RegistryUnreachableError):
        ArrowDeserializer("avro", nowhere, OLD).decode(payloads(b"\0\0\0\0\1x"))


def test_wrong_use_is_refused(registry: SchemaRegistryClient) -> None:
    for wrong in (
        lambda: ArrowDeserializer("xml"),  # type: ignore[arg-type]
        lambda: ArrowSerializer("xml"),  # type: ignore[arg-type]
        lambda: ArrowDeserializer("avro"),
        lambda: ArrowSerializer("avro"),
        lambda: ArrowDeserializer("json"),
        lambda: ArrowSerializer("json", None, "{}"),
        lambda: ArrowDeserializer("avro", registry, pa.int64()),
        lambda: ArrowSerializer("avro", registry, pa.int64()),
    ):
        with pytest.raises(ValueError, match=r"."):
            wrong()
