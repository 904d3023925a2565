"""What clients of version 3 send and get, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from headwater.rest.openapi import ANY, NUMBER, TEXT, list_of, nullable, object_of

_FLAG = {"type": "boolean"}
_RESOURCE = {
    **object_of(
        "kind",
        "metadata",
        "cluster_id",
        kind=TEXT,
        metadata=object_of("self", self=TEXT, resource_name=TEXT),
        cluster_id=TEXT,
    ),
    "additionalProperties": True,
}
_DATA = object_of(
    type={"type": "string", "enum": ["BINARY", "JSON", "STRING", "AVRO", "JSONSCHEMA", "PROTOBUF"]},
    subject=TEXT,
    subject_name_strategy={
        "type": "string",
        "enum": ["TOPIC_NAME", "RECORD_NAME", "TOPIC_RECORD_NAME"],
    },
    schema_id=NUMBER,
    schema_version=NUMBER,
    schema=TEXT,
    data=ANY,
)
_RECORD = {
    "partition_id": nullable("integer"),
    "headers": list_of(object_of("name", name=TEXT, value=nullable("string"))),
    "key": _DATA,
    "value": _DATA,
    "timestamp": {"type": ["string", "null"], "format": "date-time"},
}
_WRITTEN = {
    "cluster_id": TEXT,
    "topic_name": TEXT,
    "partition_id": NUMBER,
    "offset": NUMBER,
    "timestamp": TEXT,
    "key": {"type": "object"},
    "value": {"type": "object"},
}
_CONFIG = object_of("name", name=TEXT, value=nullable("string"))
_ACL = object_of(
    *(_NAMES := ("resource_type", "resource_name", "pattern_type", "principal", "host",
                 "operation", "permission")),
    **dict.fromkeys(_NAMES, TEXT),
)  # fmt: skip

_CHANGE = object_of(
    "name",
    name=TEXT,
    value=nullable("string"),
    operation={"type": "string", "enum": ["SET", "DELETE"]},
)

SCHEMAS: dict[str, Any] = {
    "Resource": _RESOURCE,
    "ResourceList": object_of(
        "data",
        kind=TEXT,
        metadata=object_of("self", self=TEXT, next=nullable("string")),
        data=list_of(_RESOURCE),
    ),
    "CreateTopic": object_of(
        "topic_name",
        topic_name=TEXT,
        partitions_count=NUMBER,
        replication_factor=NUMBER,
        replicas_assignments={"type": "object", "additionalProperties": list_of(NUMBER)},
        configs=list_of(_CONFIG),
        validate_only=_FLAG,
    ),
    "GrowTopic": object_of("partitions_count", partitions_count=NUMBER),
    "UpdateConfig": object_of(value=nullable("string")),
    "AlterConfigs": object_of(
        "data",
        data=list_of(_CHANGE),
        validate_only=_FLAG,
    ),
    "AlterConfigsOfTopics": object_of(
        "data",
        data=list_of(object_of("topic_name", "configs", topic_name=TEXT, configs=list_of(_CHANGE))),
        validate_only=_FLAG,
    ),
    "CreateAcl": _ACL,
    "CreateAcls": object_of("data", data=list_of(_ACL)),
    "ProduceRecord": object_of(**_RECORD),
    "ProducedRecord": object_of("error_code", error_code=NUMBER, message=TEXT, **_WRITTEN),
    "ProduceBatch": object_of("entries", entries=list_of(object_of("id", id=TEXT, **_RECORD))),
    "ProducedBatch": object_of(
        "successes",
        "failures",
        successes=list_of(object_of("id", id=TEXT, **_WRITTEN)),
        failures=list_of(object_of("id", id=TEXT, error_code=NUMBER, message=TEXT)),
    ),
}
