"""What clients of version 2 send and get, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

_TEXT = {"type": "string"}
_NUMBER = {"type": "integer"}
_ANY: dict[str, Any] = {}


def _object(*required: str, **properties: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "object", "properties": properties}
    return {**found, "required": list(required)} if required else found


def _list(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _nullable(kind: str) -> dict[str, Any]:
    return {"type": [kind, "null"]}


_PARTITION = _object(
    partition=_NUMBER,
    leader=_nullable("integer"),
    replicas=_list(
        _object(broker=_NUMBER, leader={"type": "boolean"}, in_sync={"type": "boolean"})
    ),
)
_PLACE = {"topic": _TEXT, "partition": _NUMBER}

SCHEMAS: dict[str, Any] = {
    "Error": _object("error_code", "message", error_code=_NUMBER, message=_TEXT),
    "Anything": {"type": "object"},
    "Strings": _list(_TEXT),
    "Topic": _object(
        name=_TEXT,
        configs={"type": "object", "additionalProperties": _TEXT},
        partitions=_list(_PARTITION),
    ),
    "Partition": _PARTITION,
    "Partitions": _list(_PARTITION),
    "Offsets": _object(beginning_offset=_NUMBER, end_offset=_NUMBER),
    "Brokers": _object(brokers=_list(_NUMBER)),
    "Produce": _object(
        "records",
        records=_list(_object(key=_ANY, value=_ANY, partition=_nullable("integer"))),
        key_schema=_nullable("string"),
        key_schema_id=_nullable("integer"),
        value_schema=_nullable("string"),
        value_schema_id=_nullable("integer"),
    ),
    "Produced": _object(
        offsets=_list(
            _object(
                partition=_nullable("integer"),
                offset=_nullable("integer"),
                error_code=_nullable("integer"),
                error=_nullable("string"),
            )
        ),
        key_schema_id=_nullable("integer"),
        value_schema_id=_nullable("integer"),
    ),
    "CreateConsumer": _object(
        name=_TEXT,
        format={"type": "string", "enum": ["binary", "json", "avro", "jsonschema", "protobuf"]},
        **{
            "auto.offset.reset": {"type": "string", "enum": ["earliest", "latest", "none"]},
            "auto.commit.enable": {"type": ["boolean", "string"]},
            "fetch.min.bytes": {"type": ["integer", "string"]},
            "consumer.request.timeout.ms": {"type": ["integer", "string"]},
        },
    ),
    "CreatedConsumer": _object(instance_id=_TEXT, base_uri=_TEXT),
    "Subscription": _object(topics=_list(_TEXT), topic_pattern=_TEXT),
    "TopicPartitions": _object("partitions", partitions=_list(_object(**_PLACE))),
    "TopicOffsets": _object(
        offsets=_list(_object(**_PLACE, offset=_NUMBER, metadata=_nullable("string")))
    ),
    "Records": _list(_object(**_PLACE, key=_ANY, value=_ANY, offset=_NUMBER)),
}
