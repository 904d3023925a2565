"""Our serialisers and confluent-kafka's: the same bytes, and each reads what the other wrote."""

from __future__ import annotations

import datetime
import decimal
import json
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, DeserializingConsumer, SerializingProducer, TopicPartition
from confluent_kafka import schema_registry as theirs
from confluent_kafka.schema_registry import avro as their_avro
from confluent_kafka.schema_registry import json_schema as their_json
from confluent_kafka.schema_registry import protobuf as their_protobuf
from confluent_kafka.serialization import MessageField, SerializationContext, StringSerializer
from google.api import monitored_resource_pb2  # type: ignore[import-untyped]
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.effort import often
from tests.platform_process import PlatformProcess

from headwater import serde

if TYPE_CHECKING:
    from collections.abc import Iterator

ORDER = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "namespace": "shop",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "note", "type": ["null", "string"], "default": None},
            {"name": "paid", "type": "boolean", "default": False},
            {"name": "total", "type": "double"},
            {"name": "weight", "type": "float", "default": 0.0},
            {"name": "raw", "type": "bytes", "default": ""},
            {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
            {"name": "tags", "type": {"type": "array", "items": "string"}, "default": []},
            {"name": "counts", "type": {"type": "map", "values": "int"}, "default": {}},
            {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 4}},
            {"name": "next", "type": ["null", "Order"], "default": None},
        ],
    }
)
ORDERS: st.SearchStrategy[dict[str, Any]] = st.deferred(
    lambda: st.fixed_dictionaries(
        {
            "id": st.integers(-(2**63), 2**63 - 1),
            "note": st.none() | st.text(),
            "paid": st.booleans(),
            "total": st.floats(allow_nan=False),
            "weight": st.floats(width=32, allow_nan=False),
            "raw": st.binary(),
            "kind": st.sampled_from(["A", "B"]),
            "tags": st.lists(st.text()),
            "counts": st.dictionaries(st.text(), st.integers(-(2**31), 2**31 - 1)),
            "hash": st.binary(min_size=4, max_size=4),
            "next": st.none() | ORDERS,
        }
    )
)
PRODUCT = json.dumps(
    {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Product",
        "type": "object",
        "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
        "required": ["id"],
    }
)
JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)  # theirs writes by orjson, which has no others
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)

# The platform is started once for all examples, which do not disturb each other.
shared = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    max_examples=often(25, in_soak=200),
)


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlatformProcess]:
    with PlatformProcess(tmp_path_factory.mktemp("platform")) as running:
        yield running
        running.stop()


@pytest.fixture(scope="module")
def registry(platform: PlatformProcess) -> Iterator[serde.SchemaRegistryClient]:
    with serde.SchemaRegistryClient(platform.registry_url) as client:
        yield client


@pytest.fixture(scope="module")
def their_registry(platform: PlatformProcess) -> Iterator[theirs.SchemaRegistryClient]:
    with theirs.SchemaRegistryClient({"url": platform.registry_url}) as client:
        yield client


@pytest.fixture(scope="module")
def their_reader(platform: PlatformProcess) -> Iterator[theirs.SchemaRegistryClient]:
    """A client that has registered nothing, and so has no text in its cache from doing that."""
    with theirs.SchemaRegistryClient({"url": platform.registry_url}) as client:
        yield client


def place(topic: str, field: str = MessageField.VALUE) -> SerializationContext:
    return SerializationContext(topic, field, [])


@shared
@given(ORDERS)
def test_avro(
    registry: serde.SchemaRegistryClient,
    their_registry: theirs.SchemaRegistryClient,
    value: dict[str, Any],
) -> None:
    ours = serde.AvroSerializer(registry, ORDER)(value, "orders")
    assert ours == their_avro.AvroSerializer(their_registry, ORDER)(value, place("orders"))
    assert their_avro.AvroDeserializer(their_registry)(ours, place("orders")) == value
    assert serde.AvroDeserializer(registry)(ours, "orders") == value


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ('"string"', ["", "ü", "x" * 1000]),
        ('"long"', [0, -1, 2**62]),
        ('"bytes"', [b"\0\1", b"x" * 1000]),
        ('"boolean"', [True, False]),
        ('["null", "long", "string"]', [5, "five"]),
        ('{"type": "long", "logicalType": "timestamp-millis"}', ["moment"]),
        ('{"type": "array", "items": "int"}', [[], [1, 2, 3]]),
        (
            """{"type": "record", "name": "L", "fields": [
                {"name": "day", "type": {"type": "int", "logicalType": "date"}},
                {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
                {"name": "price", "type": {"type": "bytes", "logicalType": "decimal",
                                           "precision": 9, "scale": 2}}]}""",
            ["logical"],
        ),
    ],
)
def test_avro_of_other_shapes(
    registry: serde.SchemaRegistryClient,
    their_registry: theirs.SchemaRegistryClient,
    topic: str,
    schema: str,
    values: list[Any],
) -> None:
    stand_ins = {
        "moment": datetime.datetime(2026, 5, 1, 10, 30, tzinfo=datetime.UTC),
        "logical": {
            "day": datetime.date(2026, 5, 1),
            "id": uuid.UUID(int=7),
            "price": decimal.Decimal("12.34"),
        },
    }
    ours = serde.AvroSerializer(registry, schema)
    other = their_avro.AvroSerializer(their_registry, schema)
    for each in values:
        value = stand_ins.get(each, each) if isinstance(each, str) else each
        data = ours(value, topic)
        assert data == other(value, place(topic))
        if data is not None and len(data) > 5:  # theirs takes what is empty for malformed
            assert their_avro.AvroDeserializer(their_registry)(data, place(topic)) == value
        assert serde.AvroDeserializer(registry)(data, topic) == value


@shared
@given(JSON_VALUES)
def test_json_schema(
    registry: serde.SchemaRegistryClient, their_registry: theirs.SchemaRegistryClient, value: Any
) -> None:
    if value is None:
        return
    ours = serde.JsonSchemaSerializer(registry, '{"title": "Anything"}')(value, "anything")
    other = their_json.JSONSerializer('{"title": "Anything"}', their_registry)
    written = other(value, place("anything"))
    assert ours is not None
    assert written is not None
    # The same id; and 1e+16 is the same number as 1e16.
    assert (ours[:5], json.loads(ours[5:])) == (written[:5], json.loads(written[5:]))
    deserializer = their_json.JSONDeserializer(None, schema_registry_client=their_registry)
    assert deserializer(ours, place("anything")) == value
    assert serde.JsonSchemaDeserializer(registry)(ours, "anything") == value


@pytest.mark.parametrize(
    "value",
    [
        error_details_pb2.ErrorInfo(reason="ü", metadata={"a": "b"}),
        error_details_pb2.ErrorInfo(),
        error_details_pb2.DebugInfo(stack_entries=["a", "b"]),
        error_details_pb2.BadRequest.FieldViolation(field="name"),
        status_pb2.Status(code=-5, details=[any_pb2.Any(type_url="t/x", value=b"y")]),
        monitored_resource_pb2.MonitoredResource(type="vm", labels={"zone": "a"}),
        monitored_resource_pb2.MonitoredResourceMetadata(user_labels={"a": "b"}),
    ],
    ids=lambda message: type(message).__name__,
)
def test_protobuf(
    registry: serde.SchemaRegistryClient,
    their_registry: theirs.SchemaRegistryClient,
    their_reader: theirs.SchemaRegistryClient,
    topic: str,
    value: Any,
) -> None:
    ours = serde.ProtobufSerializer(registry, type(value))(value, topic)
    other = their_protobuf.ProtobufSerializer(type(value), their_registry)
    assert ours == other(value, place(topic))
    for deserializer in (
        their_protobuf.ProtobufDeserializer(type(value)),
        their_protobuf.ProtobufDeserializer(type(value), None, their_registry),
        their_protobuf.ProtobufDeserializer(type(value), None, their_reader),
    ):
        assert deserializer(ours, place(topic)) == value
    assert serde.ProtobufDeserializer(registry, type(value))(ours, topic) == value
    as_written: Any = serde.ProtobufDeserializer(registry)(ours, topic)
    assert as_written.SerializeToString() == value.SerializeToString()
    assert as_written.DESCRIPTOR.full_name == value.DESCRIPTOR.full_name


def test_protobuf_from_text(
    registry: serde.SchemaRegistryClient, their_registry: theirs.SchemaRegistryClient, topic: str
) -> None:
    text = """syntax = "proto3"; package google.rpc;
    message Other { int32 a = 1; }
    message ErrorInfo { string reason = 1; string domain = 2; map<string, string> metadata = 3; }"""
    value = {"reason": "r", "metadata": {"a": "b"}}
    data = serde.ProtobufSerializer(registry, text, message="ErrorInfo")(value, topic)
    info = error_details_pb2.ErrorInfo
    deserializer = their_protobuf.ProtobufDeserializer(info, None, their_registry)
    assert deserializer(data, place(topic)) == info(**value)


@pytest.mark.parametrize("field", [MessageField.KEY, MessageField.VALUE])
@pytest.mark.parametrize("kind", ["avro", "json", "protobuf"])
def test_their_guids_in_headers(
    registry: serde.SchemaRegistryClient,
    their_registry: theirs.SchemaRegistryClient,
    topic: str,
    kind: str,
    field: Any,
) -> None:
    in_header = {"schema.id.serializer": theirs.header_schema_id_serializer}
    where = place(topic, field)
    deserializer: serde.Deserializer[Any]
    if kind == "avro":
        data = their_avro.AvroSerializer(their_registry, '"long"', conf=in_header)(5, where)
        deserializer, value = serde.AvroDeserializer(registry), 5
    elif kind == "json":
        other = their_json.JSONSerializer(PRODUCT, their_registry, conf=in_header)
        data = other({"id": 5}, where)
        deserializer, value = serde.JsonSchemaDeserializer(registry), {"id": 5}  # type: ignore[assignment]
    else:
        message = monitored_resource_pb2.MonitoredResource(type="vm")
        writer = their_protobuf.ProtobufSerializer(type(message), their_registry, in_header)
        data = writer(message, where)
        assert data == message.SerializeToString()
        deserializer, value = serde.ProtobufDeserializer(registry, type(message)), message
    context = serde.Context(topic, field, where.headers)
    assert context.headers
    assert deserializer(data, context) == value
    # As a GUID in front of the payload, which magic byte 1 announces.
    assert deserializer(where.headers[0][1] + data, serde.Context(topic, field)) == value


def test_without_auto_registration_and_with_the_latest(
    registry: serde.SchemaRegistryClient, their_registry: theirs.SchemaRegistryClient, topic: str
) -> None:
    with pytest.raises(serde.RegistryError) as refused:
        serde.AvroSerializer(registry, '"int"', auto_register_schemas=False)(5, topic)
    assert refused.value.status == 404
    their_avro.AvroSerializer(their_registry, '"int"')(5, place(topic))
    ours = serde.AvroSerializer(registry, '"int"', auto_register_schemas=False)(5, topic)
    latest = {"auto.register.schemas": False, "use.latest.version": True}
    assert ours == their_avro.AvroSerializer(their_registry, '"int"', conf=latest)(5, place(topic))
    assert ours == serde.AvroSerializer(registry, use_latest_version=True)(5, topic)


def test_evolution(
    registry: serde.SchemaRegistryClient, their_registry: theirs.SchemaRegistryClient, topic: str
) -> None:
    first = '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}'
    second = first.replace("]}", ', {"name": "b", "type": "string", "default": "x"}]}')
    data = serde.AvroSerializer(registry, first)({"a": 1}, topic)
    assert serde.AvroSerializer(registry, second)({"a": 2}, topic) != data
    expected = {"a": 1, "b": "x"}
    assert serde.AvroDeserializer(registry, second)(data, topic) == expected
    assert serde.AvroDeserializer(registry, use_latest_version=True)(data, topic) == expected
    assert their_avro.AvroDeserializer(their_registry, second)(data, place(topic)) == expected


@pytest.mark.parametrize("strategy", ["topic", "record", "topic-record"])
def test_subjects(
    registry: serde.SchemaRegistryClient,
    their_registry: theirs.SchemaRegistryClient,
    topic: str,
    strategy: Any,
) -> None:
    schema = f'{{"type": "enum", "name": "E{uuid.uuid4().hex}", "symbols": ["A"]}}'
    their_strategy = {
        "topic": theirs.topic_subject_name_strategy,
        "record": theirs.record_subject_name_strategy,
        "topic-record": theirs.topic_record_subject_name_strategy,
    }[strategy]
    before = set(registry.get_subjects())
    serde.AvroSerializer(registry, schema, subject_name_strategy=strategy)("A", topic)
    (subject,) = set(registry.get_subjects()) - before
    conf = {"auto.register.schemas": False, "subject.name.strategy": their_strategy}
    their_avro.AvroSerializer(their_registry, schema, conf=conf)("A", place(topic))
    assert theirs.Schema(schema).schema_str is not None
    assert their_registry.get_latest_version(subject).version == 1


def test_in_their_clients(
    platform: PlatformProcess, registry: serde.SchemaRegistryClient, topic: str
) -> None:
    servers = {"bootstrap.servers": platform.bootstrap_servers}
    producer = SerializingProducer(
        {
            **servers,
            "key.serializer": StringSerializer(),
            "value.serializer": serde.AvroSerializer(registry, '"string"'),
        }
    )
    for number in range(10):
        producer.produce(topic, key=f"k{number}", value=f"v{number}", partition=0)
    producer.produce(topic, key="tombstone", value=None, partition=0)
    assert producer.flush(30) == 0
    consumer = DeserializingConsumer(
        {
            **servers,
            "group.id": "g",
            "key.deserializer": serde.StringDeserializer(),
            "value.deserializer": serde.AvroDeserializer(registry),
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    read = [consumer.poll(30) for _ in range(11)]
    consumer.close()
    assert [(message.key(), message.value()) for message in read] == [
        *((f"k{number}", f"v{number}") for number in range(10)),
        ("tombstone", None),
    ]


def test_a_malformed_record_is_named(
    platform: PlatformProcess, registry: serde.SchemaRegistryClient, topic: str
) -> None:
    servers = {"bootstrap.servers": platform.bootstrap_servers}
    producer = SerializingProducer(servers)
    good = serde.AvroSerializer(registry, '"string"')("good", topic)
    for value in (good, b"rubbish", good):
        producer.produce(topic, value=value, partition=0)
    assert producer.flush(30) == 0
    consumer = Consumer({**servers, "group.id": "g"})
    consumer.assign([TopicPartition(topic, 0, 0)])
    messages = [consumer.poll(30) for _ in range(3)]
    consumer.close()
    deserializer = serde.AvroDeserializer(registry)
    assert deserializer.value_of(messages[0]) == "good"
    with pytest.raises(serde.DeserializationError) as malformed:
        deserializer.value_of(messages[1])
    assert str(malformed.value).startswith(
        f"{topic} [0] at offset 1, value: it starts with the byte"
    )
