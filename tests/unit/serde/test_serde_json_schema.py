"""JSON Schema: values are checked on both ways, references come from the registry alone."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import pytest

from headwater.serde import (
    DeserializationError,
    JsonSchemaDeserializer,
    JsonSchemaSerializer,
    Reference,
    Schema,
    SchemaError,
    SerializationError,
)

if TYPE_CHECKING:
    from tests.unit.serde.tiny_registry import TinyRegistry

    from headwater.serde import SchemaRegistryClient

ORDER = """{"$schema": "http://json-schema.org/draft-07/schema#", "title": "Order",
 "type": "object", "required": ["id"],
 "properties": {"id": {"type": "integer"}, "note": {"type": "string"},
                "lines": {"type": "array", "items": {"type": "object", "required": ["sku"]}}}}"""


def test_there_and_back(server: TinyRegistry, registry: SchemaRegistryClient) -> None:
    serializer, deserializer = (
        JsonSchemaSerializer(registry, ORDER),
        JsonSchemaDeserializer(registry),
    )
    value = {"id": 5, "note": "Käse"}
    data = serializer(value, "orders")
    assert data == b"\0\0\0\0\1" + '{"id":5,"note":"Käse"}'.encode()
    assert deserializer(data, "orders") == value
    assert server.bodies[0] == {"schema": ORDER, "schemaType": "JSON"}
    assert pickle.loads(pickle.dumps(serializer))(value, "orders") == data
    assert pickle.loads(pickle.dumps(deserializer))(data, "orders") == value


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({}, '"id" is a required property'),
        ({"id": "x"}, 'id: "x" is not of type "integer"'),
        ({"id": 1, "lines": [{"sku": 1}, {}]}, r'lines\[1\]: "sku" is a required property'),
        ({"id": "x", "note": 1, "lines": [{}, {}, {}]}, "and 2 more$"),
        (5, '5 is not of type "object"'),
    ],
)
def test_what_the_schema_does_not_allow(
    registry: SchemaRegistryClient, value: Any, reason: str
) -> None:
    with pytest.raises(SerializationError, match=f"^orders, value: the schema does not .*{reason}"):
        JsonSchemaSerializer(registry, ORDER)(value, "orders")
    data = JsonSchemaSerializer(registry, ORDER, validate=False)(value, "orders")
    with pytest.raises(DeserializationError, match=f"^orders, value: the schema .*{reason}"):
        JsonSchemaDeserializer(registry)(data, "orders")
    assert JsonSchemaDeserializer(registry, validate=False)(data, "orders") == value


def test_reading_with_another_schema(registry: SchemaRegistryClient) -> None:
    data = JsonSchemaSerializer(registry, ORDER)({"id": 5}, "orders")
    strict = ORDER.replace('["id"]', '["id", "note"]')
    with pytest.raises(DeserializationError, match='"note" is a required property'):
        JsonSchemaDeserializer(registry, strict)(data, "orders")
    assert JsonSchemaDeserializer(registry, "true")(data, "orders") == {"id": 5}


def test_the_latest_version(server: TinyRegistry, registry: SchemaRegistryClient) -> None:
    data = JsonSchemaSerializer(registry, ORDER, subject_name_strategy="record")({"id": 1}, "t")
    strict = ORDER.replace('["id"]', '["id", "note"]')
    server.register("Order", {"schema": strict, "schemaType": "JSON"})
    deserializer = JsonSchemaDeserializer(
        registry, use_latest_version=True, subject_name_strategy="record"
    )
    with pytest.raises(DeserializationError, match='"note" is a required property'):
        deserializer(data, "t")


@pytest.mark.parametrize("identity", ["", '"$id": "http://example.com/schemas/cart.json",'])
def test_references(server: TinyRegistry, registry: SchemaRegistryClient, identity: str) -> None:
    item = '{"type": "object", "properties": {"price": {"$ref": "price.json"}}}'
    server.register("price", {"schema": '{"type": "number"}', "schemaType": "JSON"})
    price = {"name": "price.json", "subject": "price", "version": 1}
    server.register("item", {"schema": item, "schemaType": "JSON", "references": [price]})
    cart = Schema(
        f'{{{identity} "type": "array", "items": {{"$ref": "item.json"}}}}',
        "JSON",
        (Reference("item.json", "item", 1),),
    )
    serializer = JsonSchemaSerializer(registry, cart)
    data = serializer([{"price": 1.5}], "carts")
    assert JsonSchemaDeserializer(registry)(data, "carts") == [{"price": 1.5}]
    with pytest.raises(SerializationError, match=r'\[0\].price: "x" is not of type "number"'):
        serializer([{"price": "x"}], "carts")


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ("{", "not JSON"),
        ('{"type": "no such type"}', "no JSON schema"),
        ('{"type": 5}', "no JSON schema"),
        ('{"$ref": "elsewhere.json"}', "elsewhere.json"),
        ('{"$ref": "http://127.0.0.1:9/never-fetched.json"}', "never-fetched.json"),
    ],
)
def test_what_is_no_schema(registry: SchemaRegistryClient, schema: str, reason: str) -> None:
    with pytest.raises(SchemaError, match=reason):
        JsonSchemaSerializer(registry, schema)


def test_a_payload_that_is_no_json(registry: SchemaRegistryClient) -> None:
    JsonSchemaSerializer(registry, ORDER)({"id": 5}, "orders")
    with pytest.raises(DeserializationError, match=r"^orders, value: it is not JSON: "):
        JsonSchemaDeserializer(registry)(b"\0\0\0\0\1{", "orders")
