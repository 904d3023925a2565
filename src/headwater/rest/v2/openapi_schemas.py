"""What clients of version 2 send and get, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from headwater.rest.openapi import ANY, NUMBER, TEXT, list_of, nullable, object_of

_PARTITION = object_of(
    partition=NUMBER,
    leader=nullable("integer"),
    replicas=list_of(
        object_of(broker=NUMBER, leader={"type": "boolean"}, in_sync={"type": "boolean"})
    ),
)
_PLACE = {"topic": TEXT, "partition": NUMBER}

SCHEMAS: dict[str, Any] = {
    "Error": object_of("error_code", "message", error_code=NUMBER, message=TEXT),
    "Anything": {"type": "object"},
    "Strings": list_of(TEXT),
    "Topic": object_of(
        name=TEXT,
        configs={"type": "object", "additionalProperties": TEXT},
        partitions=list_of(_PARTITION),
    ),
    "Partition": _PARTITION,
    "Partitions": list_of(_PARTITION),
    "Offsets": object_of(beginning_offset=NUMBER, end_offset=NUMBER),
    "Brokers": object_of(brokers=list_of(NUMBER)),
    "Produce": object_of(
        "records",
        records=list_of(object_of(key=ANY, value=ANY, partition=nullable("integer"))),
        key_schema=nullable("string"),
        key_schema_id=nullable("integer"),
        value_schema=nullable("string"),
        value_schema_id=nullable("integer"),
    ),
    "Produced": object_of(
        offsets=list_of(
            object_of(
                partition=nullable("integer"),
                offset=nullable("integer"),
                error_code=nullable("integer"),
                error=nullable("string"),
            )
        ),
        key_schema_id=nullable("integer"),
        value_schema_id=nullable("integer"),
    ),
    "CreateConsumer": object_of(
        name=TEXT,
        format={"type": "string", "enum": ["binary", "json", "avro", "jsonschema", "protobuf"]},
        **{
            "auto.offset.reset": {"type": "string", "enum": ["earliest", "latest", "none"]},
            "auto.commit.enable": {"type": ["boolean", "string"]},
            "fetch.min.bytes": {"type": ["integer", "string"]},
            "consumer.request.timeout.ms": {"type": ["integer", "string"]},
        },
    ),
    "CreatedConsumer": object_of(instance_id=TEXT, base_uri=TEXT),
    "Subscription": object_of(topics=list_of(TEXT), topic_pattern=TEXT),
    "TopicPartitions": object_of("partitions", partitions=list_of(object_of(**_PLACE))),
    "TopicOffsets": object_of(
        offsets=list_of(object_of(**_PLACE, offset=NUMBER, metadata=nullable("string")))
    ),
    "Records": list_of(object_of(**_PLACE, key=ANY, value=ANY, offset=NUMBER)),
}
