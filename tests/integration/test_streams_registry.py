"""Programs whose types come from a real registry."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.registry_process import RegistryProcess

from headwater.plan.nodes import TopicSource
from headwater.serde import Reference, Schema, SchemaRegistryClient
from headwater.streams import App, ExpressionError, PlanError

if TYPE_CHECKING:
    from collections.abc import Iterator

READING = {
    "type": "record",
    "name": "Reading",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "value", "type": ["null", "double"], "default": None},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}


@pytest.fixture(scope="module")
def client(bootstrap_servers: str) -> Iterator[SchemaRegistryClient]:
    process = RegistryProcess(bootstrap_servers).start()
    with SchemaRegistryClient(process.url) as opened:
        yield opened
    process.stop()


def _app(client: SchemaRegistryClient) -> App:
    return App("typed", registry_url=client.urls[0])


def test_avro(client: SchemaRegistryClient, topic: str) -> None:
    text = json.dumps(READING)
    client.register_schema(f"{topic}-value", Schema(text))
    stream = _app(client).stream(topic, value="avro", timestamp_by="at")
    assert stream.row.value.ddl() == "struct<id:string,value:double,at:timestamp>"
    assert isinstance(stream.node, TopicSource)
    assert stream.node.value_format.schema is not None
    assert json.loads(stream.node.value_format.schema) == READING
    with pytest.raises(ExpressionError, match=r"test_streams_registry.py:\d+: there is no 'valeu'"):
        stream.filter("valeu > 1")


def test_avro_with_a_reference_is_complete_in_itself(
    client: SchemaRegistryClient, topic: str
) -> None:
    client.register_schema(f"{topic}-reading", Schema(json.dumps(READING)))
    pair = {
        "type": "record",
        "name": "Pair",
        "fields": [{"name": "one", "type": "Reading"}, {"name": "other", "type": "Reading"}],
    }
    reference = Reference("Reading", f"{topic}-reading", 1)
    client.register_schema(f"{topic}-value", Schema(json.dumps(pair), "AVRO", (reference,)))
    stream = _app(client).stream(topic, value="avro")
    assert stream.map_values("one.value - other.value").row.value.ddl() == "double"
    assert isinstance(stream.node, TopicSource)
    text = stream.node.value_format.schema
    assert text is not None
    assert text.count('"fields"') == 2


def test_json_schema_and_protobuf(client: SchemaRegistryClient, topic: str) -> None:
    schema = {
        "type": "object",
        "properties": {"id": {"type": "string"}, "n": {"type": "integer"}},
    }
    client.register_schema(f"{topic}-value", Schema(json.dumps(schema), "JSON"))
    proto = 'syntax = "proto3"; message Key { int64 number = 1; string name = 2; }'
    client.register_schema(f"{topic}-key", Schema(proto, "PROTOBUF"))
    stream = _app(client).stream(topic, key="protobuf", value="jsonschema")
    assert stream.row.value.ddl() == "struct<id:string,n:bigint>"
    assert stream.row.key.ddl() == "struct<number:bigint,name:string>"


def test_what_is_not_there_or_of_another_kind(client: SchemaRegistryClient, topic: str) -> None:
    with pytest.raises(PlanError, match=f"has no subject '{topic}-value': register a schema"):
        _app(client).stream(topic, value="avro")
    client.register_schema(f"{topic}-value", Schema(json.dumps(READING)))
    with pytest.raises(PlanError, match="is avro, not protobuf"):
        _app(client).stream(topic, value="protobuf")
