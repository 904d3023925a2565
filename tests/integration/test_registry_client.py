"""Confluent's own client as a client of everything that it can ask for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.schema_registry import (
    ConfigCompatibilityLevel,
    Metadata,
    MetadataProperties,
    Rule,
    RuleKind,
    RuleMode,
    RuleSet,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    ServerConfig,
)
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.message_factory import GetMessageClass
from tests.registry_process import RegistryProcess

from headwater.serde.proto_text import build_pool, parse

if TYPE_CHECKING:
    from collections.abc import Iterator


USER = {"type": "record", "name": "User", "fields": [{"name": "name", "type": "string"}]}
USER_2 = {
    **USER,
    "fields": [
        {"name": "name", "type": "string"},
        {"name": "age", "type": "int", "default": 0},
    ],
}
BAD_USER = {**USER, "fields": [{"name": "name", "type": "string"}, {"name": "x", "type": "int"}]}


@pytest.fixture(scope="module")
def registry(bootstrap_servers: str) -> Iterator[RegistryProcess]:
    process = RegistryProcess(bootstrap_servers).start()
    yield process
    process.stop()


@pytest.fixture
def client(registry: RegistryProcess) -> SchemaRegistryClient:
    """A new one for each test, as it remembers what it was told."""
    return SchemaRegistryClient({"url": registry.url})


def avro(schema: object, **more: object) -> Schema:
    return Schema(json.dumps(schema), "AVRO", **more)


def test_register_and_get(client: SchemaRegistryClient, topic: str) -> None:
    first = client.register_schema(topic, avro(USER))
    assert client.register_schema(topic, avro(USER)) == first
    assert client.register_schema(f"{topic}-other", avro(USER)) == first
    second = client.register_schema(topic, avro(USER_2))
    assert second > first
    assert json.loads(client.get_schema(first).schema_str) == USER
    assert client.get_schema(first).schema_type == "AVRO"
    assert client.get_versions(topic) == [1, 2]
    latest = client.get_latest_version(topic)
    assert (latest.version, latest.schema_id, latest.subject) == (2, second, topic)
    assert client.get_version(topic, 1).schema_id == first
    found = client.lookup_schema(topic, avro(USER))
    assert (found.schema_id, found.version) == (first, 1)
    assert topic in client.get_subjects()
    assert client.get_subjects_by_schema_id(first) == sorted([topic, f"{topic}-other"])
    versions = client.get_schema_versions(first)
    assert [(each.subject, each.version) for each in versions] == sorted(
        [(topic, 1), (f"{topic}-other", 1)]
    )
    assert client.get_schema_types() == ["AVRO", "JSON", "PROTOBUF"]


def test_guids(client: SchemaRegistryClient, topic: str) -> None:
    registered = client.register_schema_full_response(topic, avro(USER))
    assert registered.guid is not None
    assert json.loads(client.get_schema_by_guid(registered.guid).schema_str) == USER


def test_errors_have_codes(client: SchemaRegistryClient, topic: str) -> None:
    def code(call: object) -> tuple[int, int]:
        with pytest.raises(SchemaRegistryError) as failure:
            call()  # type: ignore[operator]
        return failure.value.http_status_code, failure.value.error_code

    assert code(lambda: client.get_latest_version(topic)) == (404, 40401)
    assert code(lambda: client.get_schema(999_999)) == (404, 40403)
    client.register_schema(topic, avro(USER))
    assert code(lambda: client.get_version(topic, 7)) == (404, 40402)
    assert code(lambda: client.lookup_schema(topic, avro(USER_2))) == (404, 40403)
    assert code(lambda: client.register_schema(topic, Schema("{", "AVRO"))) == (422, 42201)
    assert code(lambda: client.register_schema(topic, avro(BAD_USER))) == (409, 409)
    assert code(lambda: client.set_compatibility(topic, "SIDEWAYS")) == (422, 42203)
    assert code(lambda: client.get_compatibility(topic)) == (404, 40408)
    assert code(lambda: client.get_mode(topic)) == (404, 40409)
    assert code(lambda: client.delete_subject(f"{topic}-x")) == (404, 40401)


def test_a_refusal_says_what_where_and_what_to_do(client: SchemaRegistryClient, topic: str) -> None:
    client.register_schema(topic, avro(USER))
    with pytest.raises(SchemaRegistryError) as failure:
        client.register_schema(topic, avro(BAD_USER))
    text = str(failure.value)
    assert f'incompatible with an earlier schema for subject "{topic}"' in text
    for part in (
        "READER_FIELD_MISSING_DEFAULT_VALUE",
        "path:'/fields/1'",
        "the field x of the new schema has no default",
        "remedy:'Give x a default",
        "{oldSchemaVersion: 1}",
        "compatibility: 'BACKWARD'",
    ):
        assert part in text


def test_deleting(client: SchemaRegistryClient, registry: RegistryProcess, topic: str) -> None:
    first = client.register_schema(topic, avro(USER))
    client.register_schema(topic, avro(USER_2))
    assert client.delete_version(topic, 1) == 1
    assert client.get_versions(topic) == [2]
    assert client.get_versions(topic, deleted=True) == [1, 2]
    assert client.get_versions(topic, deleted_only=True) == [1]
    assert registry.get(f"/subjects/{topic}/versions?deletedAsNegative=true") == [-1, 2]
    assert client.delete_subject(topic) == [2]
    assert topic not in client.get_subjects()
    assert topic in client.get_subjects(deleted=True)
    assert topic in client.get_subjects(deleted_only=True)
    assert client.get_schema(first).schema_str  # an id that is in use somewhere stays good
    assert client.delete_subject(topic, permanent=True) == [1, 2]
    assert topic not in client.get_subjects(deleted=True)


def test_a_deleted_schema_comes_back_under_the_next_version(
    client: SchemaRegistryClient, topic: str
) -> None:
    id_ = client.register_schema(topic, avro(USER))
    client.delete_subject(topic)
    assert client.register_schema(topic, avro(USER)) == id_
    assert client.get_versions(topic, deleted=True) == [2]


def test_compatibility(client: SchemaRegistryClient, topic: str) -> None:
    client.register_schema(topic, avro(USER))
    assert client.test_compatibility(topic, avro(USER_2))
    assert not client.test_compatibility(topic, avro(BAD_USER), 1)
    assert client.set_compatibility(topic, "NONE")["compatibility"] == "NONE"
    assert client.get_compatibility(topic) == "NONE"
    assert client.test_compatibility(topic, avro(BAD_USER))
    assert client.register_schema(topic, avro(BAD_USER))


def test_settings(client: SchemaRegistryClient, topic: str) -> None:
    config = ServerConfig(
        compatibility=ConfigCompatibilityLevel.FULL,
        default_metadata=Metadata(None, MetadataProperties({"team": "a"}), None),
    )
    client.set_config(topic, config)
    assert client.get_config(topic).compatibility_level == ConfigCompatibilityLevel.FULL
    client.register_schema(topic, avro(USER))
    metadata = client.get_latest_version(topic).schema.metadata
    assert metadata is not None
    assert metadata.properties is not None
    assert metadata.properties.properties == {"team": "a"}
    deleted = client.delete_config(topic)
    assert deleted.compatibility_level == ConfigCompatibilityLevel.FULL
    assert client.get_config().compatibility_level == ConfigCompatibilityLevel.BACKWARD


def test_aliases(client: SchemaRegistryClient, registry: RegistryProcess, topic: str) -> None:
    id_ = client.register_schema(topic, avro(USER))
    registry.request("PUT", f"/config/{topic}-alias", {"alias": topic})
    assert client.get_latest_version(f"{topic}-alias").schema_id == id_
    listed = registry.get(f"/schemas?subjectPrefix={topic}&aliases=true")
    assert [each["aliases"] for each in listed] == [[f"{topic}-alias"]]


def test_metadata_and_rules_are_kept(client: SchemaRegistryClient, topic: str) -> None:
    rules = RuleSet(
        None,
        [
            Rule("check", "", RuleKind.CONDITION, RuleMode.WRITE, "CEL", ["PII"], None, "1 == 1",
                 None, None, False),
        ],
    )  # fmt: skip
    metadata = Metadata(None, MetadataProperties({"owner": "ann"}), ["secret"])
    with_notes = avro(USER, metadata=metadata, rule_set=rules)
    client.register_schema(topic, with_notes)
    read = client.get_latest_version(topic).schema
    assert read.metadata == metadata
    assert read.rule_set is not None
    assert read.rule_set.domain_rules is not None
    assert read.rule_set.domain_rules[0].name == "check"
    found = client.get_latest_with_metadata(topic, {"owner": "ann"})
    assert found.version == 1
    # What comes next inherits them.
    client.register_schema(topic, avro(USER_2))
    assert client.get_latest_version(topic).schema.metadata == metadata


def test_modes(client: SchemaRegistryClient, topic: str) -> None:
    assert client.get_global_mode() == "READWRITE"
    assert client.update_mode(topic, "READONLY") == "READONLY"
    with pytest.raises(SchemaRegistryError, match="read-only mode") as failure:
        client.register_schema(topic, avro(USER))
    assert failure.value.error_code == 42205
    assert client.delete_mode(topic) == "READONLY"
    client.register_schema(topic, avro(USER))


def test_contexts(client: SchemaRegistryClient, registry: RegistryProcess, topic: str) -> None:
    subject = f":.{topic}:orders"
    id_ = client.register_schema(subject, avro(USER))
    assert id_ == 1  # ids belong to a context
    assert f".{topic}" in client.get_contexts()
    within = SchemaRegistryClient({"url": f"{registry.url}/contexts/{topic}"})
    assert within.get_subjects() == [subject]
    assert within.get_latest_version("orders").schema_id == 1
    assert within.get_schema(1).schema_str
    assert within.register_schema("orders", avro(USER_2)) == 2
    assert client.get_versions(subject) == [1, 2]


def test_references(client: SchemaRegistryClient, topic: str) -> None:
    item = {"type": "record", "name": "shop.Item", "fields": [{"name": "n", "type": "int"}]}
    client.register_schema(f"{topic}-item", avro(item))
    order = {
        "type": "record",
        "name": "shop.Order",
        "fields": [{"name": "items", "type": {"type": "array", "items": "shop.Item"}}],
    }
    references = [SchemaReference("shop.Item", f"{topic}-item", 1)]
    id_ = client.register_schema(topic, avro(order, references=references))
    assert client.get_referenced_by(f"{topic}-item", 1) == [id_]
    assert client.get_latest_version(topic).schema.references == references
    resolved = client.get_schema(id_, fmt="resolved")
    assert '"name":"Item"' in resolved.schema_str
    with pytest.raises(SchemaRegistryError) as failure:
        client.delete_version(f"{topic}-item", 1)
    assert failure.value.error_code == 42206
    with pytest.raises(SchemaRegistryError, match="No schema reference found"):
        client.register_schema(
            f"{topic}-x", avro(order, references=[SchemaReference("shop.Item", "nothing", 1)])
        )


def test_normalizing(client: SchemaRegistryClient, topic: str) -> None:
    one = avro({**USER, "b": 1, "a": 2})
    other = avro({**USER, "a": 2, "b": 1})
    id_ = client.register_schema(topic, one, normalize_schemas=True)
    assert client.register_schema(topic, other, normalize_schemas=True) == id_
    assert client.lookup_schema(topic, other, normalize_schemas=True).version == 1
    assert client.register_schema(topic, other) != id_ or client.get_versions(topic) == [1]


def test_a_protobuf_client_reads_what_it_wrote(client: SchemaRegistryClient, topic: str) -> None:
    """It sends descriptors, keeps the answers, and expects descriptors in them."""
    file = parse('syntax = "proto3"; package plant; message Reading { string sensor = 1; }')
    pool = build_pool(file, {}, "reading.proto")
    kind = GetMessageClass(pool.FindMessageTypeByName("plant.Reading"))
    serialize = ProtobufSerializer(kind, client)
    deserialize = ProtobufDeserializer(kind, None, client)
    context = SerializationContext(topic, MessageField.VALUE)
    value = kind(sensor="boiler-1")
    assert deserialize(serialize(value, context), context) == value
    again = ProtobufSerializer(kind, client)
    assert again(value, context) == serialize(value, context)


@pytest.mark.parametrize("type_", ["JSON", "PROTOBUF"])
def test_other_formats(client: SchemaRegistryClient, topic: str, type_: str) -> None:
    texts = {
        "JSON": '{"type": "object", "properties": {"a": {"type": "string"}}}',
        "PROTOBUF": 'syntax = "proto3";\nmessage M { string a = 1; } // a comment',
    }
    id_ = client.register_schema(topic, Schema(texts[type_], type_))
    read = client.get_schema(id_)
    assert read.schema_type == type_
    assert "comment" not in (read.schema_str or "")
    assert client.register_schema(topic, read) == id_
    assert client.lookup_schema(topic, Schema(texts[type_], type_)).schema_id == id_
