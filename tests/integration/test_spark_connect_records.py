"""Connect's converters, predicates and transforms in a real Spark session, many cases in each."""

from __future__ import annotations

import datetime
import json
import runpy
import struct as binary
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.connect_records import JSON, json_records, transformed, without_schemas
from tests.registry_process import RegistryProcess
from tests.spark_session import spark

from headwater.connect.converters.converter import converter_for
from headwater.connect.converters.json_schemas import as_json_schema
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type, struct
from headwater.connect.data.shape import Shape
from headwater.connect.data.spark_types import ddl
from headwater.connect.transforms.transform import TransformError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from headwater.connect.converters.converter import Converter

__all__ = ["spark"]

ROOT = Path(__file__).parents[2]
KAFKA = "org.apache.kafka.connect"
MOMENT = datetime.datetime(2020, 2, 29, 12, 30, 0, 123000)  # noqa: DTZ001 - as Spark gives them
PERSON = struct(
    {
        "id": Schema(Type.INT64),
        "tiny": Schema(Type.INT8, optional=True),
        "short": Schema(Type.INT16, optional=True),
        "ratio": Schema(Type.FLOAT32, optional=True),
        "name": Schema(Type.STRING, optional=True, default="nobody"),
        "price": connect.decimal(2, 12, optional=True),
        "born": connect.date(optional=True),
        "daily": connect.time(optional=True),
        "seen": connect.timestamp(optional=True),
        "data": Schema(Type.BYTES, optional=True),
        "inner": struct({"tags": Schema(Type.ARRAY, value=Schema(Type.STRING))}),
        "words": Schema(Type.MAP, key=Schema(Type.STRING), value=Schema(Type.INT32)),
    },
    name="org.example.Person",
)
ADA: dict[str, Any] = {
    "id": 2**60,
    "tiny": -128,
    "short": 300,
    "ratio": 0.5,
    "name": "Ada",
    "price": Decimal("-12.50"),
    "born": datetime.date(1815, 12, 10),
    "daily": 45_000_000,
    "seen": MOMENT,
    "data": bytearray(b"\0\xff"),
    "inner": {"tags": ["a", "b"]},
    "words": {"x": 1},
}
NOBODY: dict[str, Any] = {
    **dict.fromkeys(ADA),
    "id": 1,
    "inner": {"tags": []},
    "words": {},
    "name": "x",
}


def _round_trip(
    spark: SparkSession, converter: Converter, schema: Schema, values: list[Any], topic: str = "t"
) -> list[Any]:
    """Return values after they were bytes; the schema that comes back is the same."""
    rows = [(topic, each) for each in values]
    frame = spark.createDataFrame(rows, f"topic string, value {ddl(schema)}")
    written = frame.select("topic", converter.to_bytes(frame["value"], schema, [topic]).alias("v"))
    decoded = converter.from_bytes(written, "v", topic)
    assert decoded.schema == schema
    found = written.select(decoded.value.alias("value"))
    assert found.schema["value"].dataType.simpleString() == ddl(schema)
    return [row.asDict(recursive=True)["value"] for row in found.collect()]


def test_plain_values(spark: SparkSession) -> None:
    cases: list[tuple[str, Schema, list[Any], list[bytes]]] = [
        ("storage.StringConverter", Schema(Type.STRING), ["ä", ""], [b"\xc3\xa4", b""]),
        ("converters.ByteArrayConverter", Schema(Type.BYTES), [bytearray(b"\0")], [b"\0"]),
        ("converters.BooleanConverter", Schema(Type.BOOLEAN), [True, False], [b"\1", b"\0"]),
        *(
            (
                f"converters.{name}Converter",
                Schema(type_),
                values,
                [binary.pack(code, v) for v in values],
            )
            for name, type_, code, values in (
                ("Short", Type.INT16, ">h", [0, -1, 32767, -32768]),
                ("Integer", Type.INT32, ">i", [0, -1, 2**31 - 1, -(2**31)]),
                ("Long", Type.INT64, ">q", [0, -1, 2**63 - 1, -(2**63)]),
                ("Float", Type.FLOAT32, ">f", [0.5, -2.75]),
                ("Double", Type.FLOAT64, ">d", [0.1, -1e300]),
            )
        ),
    ]
    for name, schema, values, expected in cases:
        converter = converter_for(f"{KAFKA}.{name}", {}, is_key=False)
        frame = spark.createDataFrame([(each,) for each in [*values, None]], f"v {ddl(schema)}")
        written = frame.select(converter.to_bytes(frame["v"], schema).alias("v"))
        assert [row["v"] and bytes(row["v"]) for row in written.collect()] == [*expected, None], (
            name
        )
        decoded = converter.from_bytes(written, "v", "t")
        assert decoded.schema == schema.as_optional()
        assert [row[0] for row in written.select(decoded.value).collect()] == [*values, None], name


def test_bytes_that_are_no_text_are_replaced_as_in_java(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(b"\xe4pfel",)], "v binary")
    for encoding, expected in (("utf-8", "\ufffdpfel"), ("ISO-8859-1", "äpfel")):
        converter = converter_for(
            f"{KAFKA}.storage.StringConverter", {"converter.encoding": encoding}, is_key=False
        )
        assert frame.select(converter.from_bytes(frame, "v", "t").value).first() == (expected,)


def test_what_is_no_text_is_written_as_java_prints_it(spark: SparkSession) -> None:
    schema = connect.struct(
        {
            "ID": Schema(Type.INT32),
            "at": connect.timestamp(optional=True),
            "born": connect.date(optional=True),
            "tags": Schema(Type.ARRAY, value=Schema(Type.STRING, optional=True)),
            "counts": Schema(Type.MAP, key=Schema(Type.STRING), value=Schema(Type.INT64)),
            "missing": Schema(Type.STRING, optional=True),
        }
    )
    row = (1, MOMENT, datetime.date(1815, 12, 10), ["a", None], {"n": 2}, None)
    frame = spark.createDataFrame([(row,), (None,)], f"v {ddl(schema)}")
    converter = converter_for(f"{KAFKA}.storage.StringConverter", {}, is_key=False)
    written = frame.select(converter.to_bytes(frame["v"], schema).alias("v")).collect()
    at = MOMENT.strftime("%a %b %d %H:%M:%S UTC %Y")
    born = "Sun Dec 10 00:00:00 UTC 1815"
    assert [each["v"] and bytes(each["v"]).decode() for each in written] == [
        f"Struct{{ID=1,at={at},born={born},tags=[a, null],counts={{n=2}}}}",
        None,
    ]


def test_bytes_of_another_size_are_no_number(spark: SparkSession) -> None:
    converter = converter_for(f"{KAFKA}.converters.IntegerConverter", {}, is_key=True)
    frame = spark.createDataFrame([(b"abc",)], "v binary")
    decoded = converter.from_bytes(frame, "v", "t")
    assert decoded.failed is not None
    (row,) = frame.select(decoded.value, decoded.failed).collect()
    assert tuple(row) == (None, "Size of data received by IntegerConverter is not 4: 3")
    with pytest.raises(TypeError, match="IntegerConverter takes int32, this is string"):
        converter.to_bytes(frame["v"], Schema(Type.STRING))


def test_json_with_schemas(spark: SparkSession) -> None:
    for decimals in ("BASE64", "NUMERIC"):
        converter = converter_for(JSON, {"decimal.format": decimals}, is_key=False)
        assert _round_trip(spark, converter, PERSON, [ADA, NOBODY]) == [ADA, NOBODY]
    odd = Schema(Type.MAP, key=Schema(Type.INT32), value=connect.date())
    converter = converter_for(JSON, {}, is_key=False)
    assert _round_trip(spark, converter, odd, [{7: MOMENT.date()}]) == [{7: MOMENT.date()}]


def test_json_of_two_schemas_in_one_batch(spark: SparkSession) -> None:
    converter = converter_for(JSON, {}, is_key=False)
    first = struct({"id": Schema(Type.INT32)})
    second = struct({"id": Schema(Type.INT32), "name": Schema(Type.STRING)})
    frame = json_records(
        spark,
        [
            {"value": {"schema": as_json_schema(first), "payload": {"id": 1}}},
            {"value": {"schema": as_json_schema(second), "payload": {"id": 2, "name": "x"}}},
            {"value": {"id": 3}},
            {},
        ],
    )
    decoded = converter.from_bytes(frame, "value", "t")
    assert decoded.schema is not None
    assert [(each.name, each.schema.optional) for each in decoded.schema.fields] == [
        ("id", False),
        ("name", True),
    ]
    assert decoded.failed is not None
    rows = frame.select(decoded.value.alias("v"), decoded.failed.isNotNull().alias("f")).collect()
    assert [(row["v"] and tuple(row["v"]), row["f"]) for row in rows] == [
        ((1, None), False),
        ((2, "x"), False),
        (None, True),
        (None, False),
    ]


@pytest.fixture(scope="module")
def registry(bootstrap_servers: str) -> Iterator[RegistryProcess]:
    process = RegistryProcess(bootstrap_servers).start()
    yield process
    process.stop()


def test_avro(spark: SparkSession, registry: RegistryProcess) -> None:
    config = {"schema.registry.url": registry.url}
    name = "io.confluent.connect.avro.AvroConverter"
    converter = converter_for(name, config, is_key=False)
    assert _round_trip(spark, converter, PERSON, [ADA, NOBODY], "people") == [ADA, NOBODY]
    text = registry.request("GET", "/subjects/people-value/versions/1").body["schema"]
    described = json.loads(text)
    assert (described["name"], described["namespace"]) == ("Person", "org.example")
    assert described["fields"][1] == {
        "name": "tiny",
        "type": ["null", {"type": "int", "connect.type": "int8"}],
        "default": None,
    }
    keys = converter_for(name, config, is_key=True)
    assert _round_trip(spark, keys, Schema(Type.INT64), [5, 6], "people") == [5, 6]
    latest = {**config, "auto.register.schemas": "false", "use.latest.version": "true"}
    again = converter_for(name, latest, is_key=False)
    assert _round_trip(spark, again, PERSON, [ADA], "people") == [ADA]


def test_avro_of_two_schemas_in_one_batch(spark: SparkSession, registry: RegistryProcess) -> None:
    converter = converter_for(
        "io.confluent.connect.avro.AvroConverter",
        {"schema.registry.url": registry.url},
        is_key=False,
    )
    first = struct({"id": Schema(Type.INT32)}, name="thing")
    second = struct(
        {"id": Schema(Type.INT32), "name": Schema(Type.STRING, optional=True)}, name="thing"
    )
    parts = []
    for schema, value in ((first, (1,)), (second, (2, "x"))):
        frame = spark.createDataFrame([("things", value)], f"topic string, value {ddl(schema)}")
        parts.append(
            frame.select(converter.to_bytes(frame["value"], schema, ["things"]).alias("v"))
        )
    rubbish = spark.createDataFrame([(b"rubbish",), (None,)], "v binary")
    batch = parts[0].union(parts[1]).union(rubbish)
    decoded = converter.from_bytes(batch, "v", "things")
    assert decoded.schema == second
    assert decoded.failed is not None
    rows = batch.select(decoded.value.alias("v"), decoded.failed.isNotNull().alias("f")).collect()
    assert [(row["v"] and tuple(row["v"]), row["f"]) for row in rows] == [
        ((1, None), False),
        ((2, "x"), False),
        (None, True),
        (None, False),
    ]


def test_json_schema(spark: SparkSession, registry: RegistryProcess) -> None:
    config = {"schema.registry.url": registry.url}
    name = "io.confluent.connect.json.JsonSchemaConverter"
    for decimals in ("BASE64", "NUMERIC"):
        converter = converter_for(name, {**config, "decimal.format": decimals}, is_key=False)
        topic = f"described-{decimals}"
        assert _round_trip(spark, converter, PERSON, [ADA, NOBODY], topic) == [ADA, NOBODY]
    keys = converter_for(name, config, is_key=True)
    assert _round_trip(spark, keys, Schema(Type.INT64), [5, 6], "described") == [5, 6]


def test_protobuf(spark: SparkSession, registry: RegistryProcess) -> None:
    converter = converter_for(
        "io.confluent.connect.protobuf.ProtobufConverter",
        {"schema.registry.url": registry.url},
        is_key=False,
    )
    inner = struct({"tags": Schema(Type.ARRAY, value=Schema(Type.STRING))}, name="org.Thing.Inner")
    thing = struct(
        {
            "id": Schema(Type.INT64),
            "name": Schema(Type.STRING, optional=True),
            "born": connect.date(optional=True),
            "daily": connect.time(optional=True),
            "seen": connect.timestamp(optional=True),
            "inner": inner.as_optional(),
            "words": Schema(Type.MAP, key=Schema(Type.STRING), value=Schema(Type.INT32)),
        },
        name="org.Thing",
    )
    full = {name: ADA[name] for name in ("id", "name", "born", "daily", "seen", "inner", "words")}
    empty: dict[str, Any] = {**dict.fromkeys(full), "id": 1, "words": {}}
    assert _round_trip(spark, converter, thing, [full, empty], "things-in-proto") == [full, empty]


def test_the_examples_of_the_page(spark: SparkSession) -> None:
    examples = runpy.run_path(str(ROOT / "docs" / "connect_transforms.py"))["EXAMPLES"]
    for example in examples:
        config = {"transforms": "it"}
        config |= {f"transforms.it.{name}": text for name, text in example.settings.items()}
        made = without_schemas(spark, [example.before], config)
        if example.after is None:
            assert made == [], example
            continue
        (record,) = made
        assert record["failed"] is None, example
        assert {name: record[name] for name in example.after} == example.after, example


def test_predicates(spark: SparkSession) -> None:
    records: list[dict[str, Any]] = [
        {"topic": "a-1", "value": {"x": 1}, "headers": {"h": "1"}},
        {"topic": "b", "value": {"x": 2}},
        {"topic": "a-2"},
    ]
    config = {
        "transforms": "drop,name",
        "transforms.drop.type": f"{KAFKA}.transforms.Filter",
        "transforms.drop.predicate": "gone",
        "transforms.name.type": f"{KAFKA}.transforms.InsertField$Value",
        "transforms.name.topic.field": "t",
        "transforms.name.predicate": "is_a",
        "predicates": "gone,is_a,marked",
        "predicates.gone.type": f"{KAFKA}.transforms.predicates.RecordIsTombstone",
        "predicates.is_a.type": f"{KAFKA}.transforms.predicates.TopicNameMatches",
        "predicates.is_a.pattern": "a-\\d",
        "predicates.marked.type": f"{KAFKA}.transforms.predicates.HasHeaderKey",
        "predicates.marked.name": "h",
    }

    def values(**changes: str) -> list[Any]:
        changed = config | {key.replace("_", "."): text for key, text in changes.items()}
        return [record["value"] for record in without_schemas(spark, records, changed)]

    assert values() == [{"x": 1, "t": "a-1"}, {"x": 2}]
    assert values(transforms_name_negate="true") == [{"x": 1}, {"x": 2, "t": "b"}]
    assert values(transforms_drop_negate="true") == [None]
    assert values(transforms_drop_predicate="marked") == [{"x": 2}, None]


def test_a_predicate_leaves_one_schema_for_all(spark: SparkSession) -> None:
    config = {
        "transforms": "it",
        "transforms.it.type": f"{KAFKA}.transforms.ReplaceField$Value",
        "transforms.it.renames": "x:y",
        "transforms.it.predicate": "is_a",
        "predicates": "is_a",
        "predicates.is_a.type": f"{KAFKA}.transforms.predicates.TopicNameMatches",
        "predicates.is_a.pattern": "a",
    }
    frame = spark.createDataFrame([("a", (1,)), ("b", (2,))], "topic string, value struct<x:int>")
    shape = Shape(value=struct({"x": Schema(Type.INT32)}))
    made, after = transformed(frame, shape, config)
    assert ddl(after.value) == "struct<y:int,x:int>"
    assert [tuple(row["value"]) for row in made.collect()] == [(1, None), (None, 2)]
    whole = config | {"transforms.it.type": f"{KAFKA}.transforms.ExtractField$Value"}
    del whole["transforms.it.renames"]
    with pytest.raises(TransformError, match="its predicate gives some records"):
        transformed(frame, shape, whole | {"transforms.it.field": "x"})


def test_change_events(spark: SparkSession) -> None:
    row = struct({"id": Schema(Type.INT32), "name": Schema(Type.STRING, optional=True)}, name="V")
    envelope = struct(
        {
            "before": row.as_optional(),
            "after": row.as_optional(),
            "source": struct({"table": Schema(Type.STRING)}),
            "op": Schema(Type.STRING),
        },
        name="s.d.t.Envelope",
    )
    events = [
        ("t", (None, (1, "a"), ("people",), "c"), None),
        ("t", ((1, "a"), None, ("people",), "d"), None),
        ("t", None, None),
    ]
    columns = f"topic string, value {ddl(envelope)}, headers array<struct<key:string,value:binary>>"
    frame = spark.createDataFrame(events, columns)
    made, deleted = (1, "a", "false", "people"), (1, "a", "true", "people")
    cases: list[tuple[str, list[Any]]] = [
        ("drop", [(1, "a", "people")]),
        ("tombstone", [(1, "a", "people"), None]),
        ("rewrite", [made, deleted]),
        ("rewrite-with-tombstone", [made, deleted, None]),
        ("delete-to-tombstone", [(1, "a", "people"), None]),
    ]
    for mode, expected in cases:
        config = {
            "transforms": "unwrap",
            "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
            "transforms.unwrap.delete.tombstone.handling.mode": mode,
            "transforms.unwrap.add.fields": "table",
            "transforms.unwrap.add.headers": "op",
        }
        rows, shape = transformed(frame, Shape(value=envelope), config)
        assert shape.value is not None
        assert shape.value.name == "V"
        found = rows.collect()
        assert [row["value"] and tuple(row["value"]) for row in found] == expected, mode
        assert bytes(found[0]["headers"][0]["value"]) == b"c"


def test_events_of_an_outbox(spark: SparkSession) -> None:
    row = struct(
        {
            "id": Schema(Type.STRING),
            "aggregatetype": Schema(Type.STRING),
            "aggregateid": Schema(Type.STRING),
            "type": Schema(Type.STRING),
            "payload": Schema(Type.STRING, optional=True),
        }
    ).as_optional()
    envelope = struct({"before": row, "after": row, "op": Schema(Type.STRING)}, name="o.Envelope")
    order = ("e1", "order", "7", "made", '{"id":7}')
    events = [
        ("db.outbox", (None, order, "c"), None),
        ("db.outbox", (order, None, "d"), None),
        ("db.outbox", None, None),
    ]
    columns = f"topic string, value {ddl(envelope)}, headers array<struct<key:string,value:binary>>"
    frame = spark.createDataFrame(events, columns).selectExpr("*", "cast(null as string) as key")
    config = {
        "transforms": "outbox",
        "transforms.outbox.type": "io.debezium.transforms.outbox.EventRouter",
        "transforms.outbox.table.fields.additional.placement": "type:header:eventType",
    }
    made, shape = transformed(frame, Shape(value=envelope), config)
    assert (shape.key, shape.value) == (Schema(Type.STRING), Schema(Type.STRING, optional=True))
    (found,) = made.collect()
    assert (found["topic"], found["key"], found["value"]) == ("outbox.event.order", "7", '{"id":7}')
    assert [(each["key"], bytes(each["value"])) for each in found["headers"]] == [
        ("id", b"e1"),
        ("eventType", b"made"),
    ]
    inside = {"transforms.outbox.table.fields.additional.placement": "type:envelope:kind"}
    made, shape = transformed(frame, Shape(value=envelope), config | inside)
    assert ddl(shape.value) == "struct<payload:string,kind:string>"
    assert tuple(made.collect()[0]["value"]) == ('{"id":7}', "made")


def test_a_function_of_the_users(spark: SparkSession) -> None:
    config = {
        "transforms": "it",
        "transforms.it.type": "headwater.connect.transforms.PythonFunction$Value",
        "transforms.it.function": "copy:copy",
    }
    made = without_schemas(spark, [{"value": {"a": [1, None]}}, {}], config)
    assert [each["value"] for each in made] == [{"a": [1, None]}, None]
    frame = spark.createDataFrame([("t", "héllo"), ("t", None)], "topic string, value string")
    typed = config | {"transforms.it.function": "builtins:len", "transforms.it.returns": "bigint"}
    rows, shape = transformed(frame, Shape(value=Schema(Type.STRING)), typed)
    assert shape.value == Schema(Type.INT64, optional=True)
    assert [row["value"] for row in rows.collect()] == [5, None]
    for wrong in ("no_such_module:f", "copy:no_such"):
        with pytest.raises(ValueError, match=f"there is no function {wrong}"):
            without_schemas(spark, [], config | {"transforms.it.function": wrong})
