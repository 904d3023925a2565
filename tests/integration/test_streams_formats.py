"""Formats in jobs: what other clients wrote is read, what a job writes they read, and the rest."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient as TheirRegistry
from confluent_kafka.schema_registry.json_schema import JSONDeserializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer as TheirDeserializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer as TheirSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.json_format import MessageToDict
from tests.integration.streams_topics import Topics, app_of, run_once, topics
from tests.registry_process import RegistryProcess
from tests.spark_session import spark

from headwater.serde import (
    AvroDeserializer,
    AvroSerializer,
    JsonSchemaDeserializer,
    JsonSchemaSerializer,
    ProtobufDeserializer,
    ProtobufSerializer,
    Reference,
    Schema,
    SchemaRegistryClient,
)
from headwater.serde.context import Context
from headwater.serde.formats.protobuf_codec import load_file
from headwater.spark.formats.schemas import Schemas
from headwater.spark.jobs.job import Job, JobFailed
from headwater.streams import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.broker_process import BrokerProcess

__all__ = ["spark", "topics"]

PAIR = "id string, n bigint"
AVRO = json.dumps(
    {
        "type": "record",
        "name": "Pair",
        "fields": [{"name": "id", "type": "string"}, {"name": "n", "type": "long"}],
    }
)
JSON_SCHEMA = json.dumps(
    {
        "title": "Pair",
        "type": "object",
        "properties": {"id": {"type": "string"}, "n": {"type": "integer"}},
    }
)
PROTO = """syntax = "proto3";
message Reading {
  string id = 1;
  int64 n = 2;
  optional double level = 3;
  Place place = 4;
  repeated string tags = 5;
  message Place { string site = 1; int32 row = 2; }
}"""
READING = {"id": "a", "n": "7", "place": {"site": "north", "row": 2}, "tags": ["p", "q"]}
GOOD = {"id": "a", "n": 7}
UNKNOWN_ID = b"\0\0\x0f\xff\xff"
KINDS = ("json", "avro", "jsonschema", "protobuf", "long")


@pytest.fixture(scope="module")
def registry(broker: BrokerProcess) -> Iterator[SchemaRegistryClient]:
    process = RegistryProcess(broker.bootstrap_servers).start()
    with SchemaRegistryClient(process.url) as client:
        yield client
    process.stop()


def good(kind: str, registry: SchemaRegistryClient, topic: str, field: Any) -> bytes:
    """Write a value as any client would; this registers its schema."""
    if kind == "json":
        return json.dumps(GOOD).encode()
    if kind == "long":
        return (7).to_bytes(8, "big")
    serializers: dict[str, Callable[..., bytes | None]] = {
        "avro": AvroSerializer(registry, AVRO),
        "jsonschema": JsonSchemaSerializer(registry, JSON_SCHEMA),
        "protobuf": ProtobufSerializer(registry, PROTO),
    }
    data = serializers[kind](GOOD, Context(topic, field))
    assert data is not None
    return data


def read_back(kind: str, registry: SchemaRegistryClient, topic: str, data: bytes) -> Any:
    if kind == "json":
        return json.loads(data)
    if kind == "long":
        return int.from_bytes(data, "big")
    if kind == "protobuf":
        return MessageToDict(ProtobufDeserializer(registry)(data, topic))  # type: ignore[arg-type]
    deserializer = AvroDeserializer if kind == "avro" else JsonSchemaDeserializer
    return deserializer(registry)(data, topic)


def options(kind: str) -> dict[str, Any]:
    types = {"key_type": PAIR, "value_type": f"{PAIR}, `a-b` int"} if kind == "json" else {}
    return {"key": kind, "value": kind, **types}


def test_malformed_keys_and_values_are_put_aside(
    spark: SparkSession,
    topics: Topics,
    registry: SchemaRegistryClient,
    topic: str,
    tmp_path: Path,
) -> None:
    app = app_of(topics, tmp_path, registry_url=registry.urls[0], guarantee="exactly_once")
    for kind in KINDS:
        name = f"{topic}-{kind}"
        topics.create(name)
        key, value = (good(kind, registry, name, field) for field in ("key", "value"))
        topics.write(name, value, key=key)
        topics.write(name, value, key=b"{no")
        # All but the id of its schema is as it should be, where it has one.
        unknown = UNKNOWN_ID + (b"" if kind == "long" else value[len(UNKNOWN_ID) :])
        topics.write(name, b"rubbish", unknown, b"", None, key=key)
        stream = app.stream(name, dead_letter=f"{name}-dead", **options(kind))
        stream.to(f"{name}-out", key=kind, value=kind)
    run_once(app, spark)
    expected = {"json": GOOD, "avro": GOOD, "jsonschema": GOOD, "long": 7}
    for kind in KINDS:
        name = f"{topic}-{kind}"
        whole, tombstone = topics.read(f"{name}-out", 2)
        wanted = expected.get(kind, {"id": "a", "n": "7"})
        assert read_back(kind, registry, f"{name}-out", whole.value()) == wanted, kind
        assert read_back(kind, registry, f"{name}-out", whole.key()) == wanted, kind
        assert tombstone.value() is None, kind
        dead = [dict(each.headers()) for each in topics.read(f"{name}-dead", 4)]
        assert [each["headwater.offset"] for each in dead] == [b"1", b"2", b"3", b"4"], kind
        reasons = [each["headwater.reason"].partition(b": ")[0] for each in dead]
        assert reasons == [b"key", b"value", b"value", b"value"], kind


@pytest.mark.parametrize(
    ("kind", "side"),
    [
        ("json", "key"),
        ("avro", "key"),
        ("jsonschema", "value"),
        ("protobuf", "value"),
        ("long", "key"),
    ],
)
def test_a_malformed_key_or_value_fails_the_job_with_its_place(
    spark: SparkSession,
    topics: Topics,
    registry: SchemaRegistryClient,
    topic: str,
    tmp_path: Path,
    kind: str,
    side: str,
) -> None:
    topics.create(topic)
    key, value = (good(kind, registry, topic, field) for field in ("key", "value"))
    topics.write(topic, value, key=key)
    malformed = {"key": key, "value": value, side: b"" if kind == "json" else b"{no"}
    topics.write(topic, malformed["value"], key=malformed["key"])
    app = app_of(topics, tmp_path, registry_url=registry.urls[0])
    app.stream(topic, **options(kind)).to(f"{topic}-out", key="json", value="json")
    with pytest.raises(JobFailed, match=rf"malformed record, {topic} \[0\] at offset 1, {side}: "):
        run_once(app, spark)


def test_protobuf_goes_through_a_job_and_new_schemas_are_learnt(
    spark: SparkSession,
    topics: Topics,
    registry: SchemaRegistryClient,
    topic: str,
    tmp_path: Path,
) -> None:
    topics.create(topic)
    # As their clients do it: with a generated class, which gives the registry descriptors.
    kind: Any = load_file(Schema(PROTO, "PROTOBUF"), registry).class_named(None)
    with TheirRegistry({"url": registry.urls[0]}) as their_registry:
        place = SerializationContext(topic, MessageField.VALUE, [])
        write = TheirSerializer(kind, their_registry)
        full = kind(id="a", n=7, place={"site": "north", "row": 2}, tags=["p", "q"])
        topics.write(topic, write(full, place), write(kind(), place), None)
        app = app_of(topics, tmp_path, registry_url=registry.urls[0])
        stream = app.stream(topic, value="protobuf")
        stream.to(f"{topic}-same", value="protobuf")
        registry.register_schema(
            f"{topic}-other-value",
            Schema(
                'syntax = "proto3"; message Row { int32 row = 2; double level = 3; }', "PROTOBUF"
            ),
        )
        other = stream.map_values(row="place.row", level="coalesce(level, 0.5)")
        other.to(f"{topic}-other", value="protobuf")
        job = Job(app.plan())
        job.start(spark)
        try:
            same = topics.read(f"{topic}-same", 3)
            read = TheirDeserializer(kind, None, their_registry)
            found = [read(each.value(), place) for each in same]
            assert found == [full, kind(), None]
            assert not found[1].HasField("level"), "what was not set is not set"
            assert not found[1].HasField("place")
            rows = [
                read_back("protobuf", registry, topic, each.value())
                for each in topics.read(f"{topic}-other", 2)
            ]
            assert rows == [{"row": 2, "level": 0.5}, {"level": 0.5}]
            newer = PROTO.replace("message Place", "string unit = 6;\n  message Place")
            data = ProtobufSerializer(registry, newer)({**READING, "n": "8", "unit": "C"}, topic)
            topics.write(topic, data)
            last = topics.read(f"{topic}-same", 4)[-1]
            assert MessageToDict(read(last.value(), place)) == {**READING, "n": "8"}
        finally:
            job.stop()


def test_protobuf_with_imports_goes_through_a_job(
    spark: SparkSession,
    topics: Topics,
    registry: SchemaRegistryClient,
    topic: str,
    tmp_path: Path,
) -> None:
    topics.create(topic)
    place = 'syntax = "proto3"; package plant; message Place { string site = 1; int32 row = 2; }'
    registry.register_schema(f"{topic}-place", Schema(place, "PROTOBUF"))
    reading = """syntax = "proto3";
import "place.proto";
import "google/protobuf/timestamp.proto";
message Reading { string id = 1; plant.Place place = 2; google.protobuf.Timestamp at = 3; }"""
    imported = Reference("place.proto", f"{topic}-place", 1)
    schema = Schema(reading, "PROTOBUF", (imported,))
    written = {"id": "a", "place": {"site": "north", "row": 2}, "at": "2026-01-02T03:04:05Z"}
    topics.write(topic, ProtobufSerializer(registry, schema)(written, topic))
    app = app_of(topics, tmp_path, registry_url=registry.urls[0])
    stream = app.stream(topic, value="protobuf")
    stream.to(f"{topic}-same", value="protobuf")
    stream.map_values(site="place.site", row="place.row").to(f"{topic}-places", value="json")
    part = app.stream(topic, value="protobuf", value_type="place struct<row:bigint>, id string")
    part.to(f"{topic}-part", value="json")
    run_once(app, spark)
    (same,), (found,), (some,) = (
        topics.read(f"{topic}-{name}", 1) for name in ("same", "places", "part")
    )
    assert read_back("protobuf", registry, topic, same.value()) == written
    assert json.loads(found.value()) == written["place"]
    assert json.loads(some.value()) == {"place": {"row": 2}, "id": "a"}


@pytest.mark.parametrize(
    ("kind", "type_", "reason"),
    [
        ("avro", "id string, n string", "n is bigint there, and not string"),
        ("avro", "id string, m bigint", r"m is not there \(there are id, n\)"),
        ("jsonschema", "id bigint, other string", "id is string there, and not bigint"),
        ("protobuf", "id string, n double, place string", "place is struct<.*> there, and not str"),
    ],
)
def test_a_type_that_contradicts_the_schema_is_refused_with_its_line(
    spark: SparkSession,
    topics: Topics,
    registry: SchemaRegistryClient,
    topic: str,
    tmp_path: Path,
    kind: str,
    type_: str,
    reason: str,
) -> None:
    topics.create(topic)
    good(kind, registry, topic, "value")
    app = app_of(topics, tmp_path, registry_url=registry.urls[0])
    app.stream(topic, value=kind, value_type=type_).print()
    line = r"test_streams_formats\.py:\d+: value_type=.* contradicts"
    with pytest.raises(PlanError, match=rf"{line} .*: {reason}.*Leave value_type out"):
        Job(app.plan(), once=True).start(spark)


def test_json_schema_is_read_by_other_clients(
    spark: SparkSession,
    topics: Topics,
    registry: SchemaRegistryClient,
    topic: str,
    tmp_path: Path,
) -> None:
    topics.create(topic)
    topics.write(topic, good("jsonschema", registry, topic, "value"), None)
    app = app_of(topics, tmp_path, registry_url=registry.urls[0])
    stream = app.stream(topic, value="jsonschema")
    stream.map_values(id="id", twice="n * 2").to(f"{topic}-out", value="jsonschema")
    run_once(app, spark)
    one, _ = topics.read(f"{topic}-out", 2)
    place = SerializationContext(f"{topic}-out", MessageField.VALUE, [])
    with TheirRegistry({"url": registry.urls[0]}) as their_registry:
        read: Any = JSONDeserializer(None, schema_registry_client=their_registry)
        assert read(one.value(), place) == {"id": "a", "twice": 14}


def test_protobuf_without_a_schema_to_write_with_is_refused(
    spark: SparkSession,
    topics: Topics,
    registry: SchemaRegistryClient,
    topic: str,
    tmp_path: Path,
) -> None:
    topics.create(topic)
    app = app_of(topics, tmp_path, registry_url=registry.urls[0])
    app.stream(topic, value_type=PAIR).to(f"{topic}-out", value="protobuf")
    with pytest.raises(PlanError, match=rf"formats\.py:\d+: no protobuf .*'{topic}-out-value'"):
        Job(app.plan(), once=True).start(spark)


def test_a_program_without_a_registry_is_told_how_to_name_one() -> None:
    with pytest.raises(ValueError, match=r"App\(\.\.\., registry_url='http://localhost:8081'\)"):
        _ = Schemas(None).registry
