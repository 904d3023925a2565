"""The schemas of the OpenAPI document: what bodies and answers look like."""

from __future__ import annotations

from typing import Any

from headwater.registry.settings_scope import LEVELS, MODES


def _object(
    properties: dict[str, Any], required: tuple[str, ...] = (), *, closed: bool = True
) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    if closed:
        schema["additionalProperties"] = False
    return schema


def _array(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


_STRING: dict[str, Any] = {"type": "string"}
_INTEGER: dict[str, Any] = {"type": "integer"}
_BOOLEAN: dict[str, Any] = {"type": "boolean"}
_LEVEL: dict[str, Any] = {"type": "string", "enum": list(LEVELS)}

_CONTENT: dict[str, Any] = {
    "guid": {"type": "string", "format": "uuid"},
    "schemaType": {"type": "string", "enum": ["AVRO", "JSON", "PROTOBUF"]},
    "references": _array(_ref("Reference")),
    "metadata": _ref("Metadata"),
    "ruleSet": _ref("RuleSet"),
    "schema": _STRING,
}
_STATE: dict[str, Any] = {"deleted": _BOOLEAN, "ts": _INTEGER}
_SETTINGS: dict[str, Any] = {
    "alias": _STRING,
    "aliasForDeks": _STRING,
    "normalize": _BOOLEAN,
    "validateFields": _BOOLEAN,
    "validateNewSchemas": _BOOLEAN,
    "validateRules": _BOOLEAN,
    "compatibilityPolicy": _STRING,
    "compatibilityGroup": _STRING,
    "defaultMetadata": _ref("Metadata"),
    "overrideMetadata": _ref("Metadata"),
    "defaultRuleSet": _ref("RuleSet"),
    "overrideRuleSet": _ref("RuleSet"),
}

SCHEMAS: dict[str, Any] = {
    "Error": _object({"error_code": _INTEGER, "message": _STRING}, ("error_code", "message")),
    "Object": {"type": "object"},
    "Text": {"description": "The schema's text as it is, in its own notation."},
    "Integer": _INTEGER,
    "Integers": _array(_INTEGER),
    "Strings": _array(_STRING),
    "Reference": _object(
        {"name": _STRING, "subject": _STRING, "version": _INTEGER}, ("name", "subject", "version")
    ),
    "Metadata": _object(
        {
            "tags": {"type": "object", "additionalProperties": _array(_STRING)},
            "properties": {"type": "object", "additionalProperties": _STRING},
            "sensitive": _array(_STRING),
        }
    ),
    "Rule": _object(
        {
            "name": _STRING,
            "doc": _STRING,
            "kind": {"type": "string", "enum": ["TRANSFORM", "CONDITION"]},
            "mode": {
                "type": "string",
                "enum": ["UPGRADE", "DOWNGRADE", "UPDOWN", "WRITE", "READ", "WRITEREAD"],
            },
            "type": _STRING,
            "tags": _array(_STRING),
            "params": {"type": "object", "additionalProperties": _STRING},
            "expr": _STRING,
            "onSuccess": _STRING,
            "onFailure": _STRING,
            "disabled": _BOOLEAN,
        },
        ("name", "type"),
    ),
    "RuleSet": _object(
        {
            "migrationRules": _array(_ref("Rule")),
            "domainRules": _array(_ref("Rule")),
            "encodingRules": _array(_ref("Rule")),
            "enableAt": _STRING,
        }
    ),
    "RegisterRequest": _object(
        {
            "schema": _STRING,
            "schemaType": _STRING,
            "references": _array(_ref("Reference")),
            "metadata": _ref("Metadata"),
            "ruleSet": _ref("RuleSet"),
            "version": _INTEGER,
            "id": _INTEGER,
        },
        closed=False,
    ),
    "RegisterResponse": _object(
        {"id": _INTEGER, "version": _INTEGER, **_CONTENT}, ("id", "version", "guid")
    ),
    "Schema": _object(
        {
            "subject": _STRING,
            "version": _INTEGER,
            "id": _INTEGER,
            **_CONTENT,
            **_STATE,
            "aliases": _array(_STRING),
        },
        ("subject", "version", "id", "guid", "schemaType", "schema"),
    ),
    "Schemas": _array(_ref("Schema")),
    "SchemaString": _object(
        {
            "subject": _STRING,
            "version": _INTEGER,
            "maxId": _INTEGER,
            **_CONTENT,
            **_STATE,
        },
        ("guid", "schemaType", "schema"),
    ),
    "SubjectVersions": _array(
        _object({"subject": _STRING, "version": _INTEGER}, ("subject", "version"))
    ),
    "ContextIds": _array(_object({"context": _STRING, "id": _INTEGER}, ("context", "id"))),
    "CompatibilityResponse": _object(
        {"is_compatible": _BOOLEAN, "messages": _array(_STRING)}, ("is_compatible",)
    ),
    "Config": _object({**_SETTINGS, "compatibilityLevel": _LEVEL}, ("compatibilityLevel",)),
    "ConfigUpdate": _object(
        {
            name: _nullable(schema)
            for name, schema in (_SETTINGS | {"compatibility": _LEVEL}).items()
        }
    ),
    "Mode": _object({"mode": _nullable({"type": "string", "enum": list(MODES)})}),
    "ClusterId": _object(
        {
            "scope": _object(
                {
                    "path": _array(_STRING),
                    "clusters": {"type": "object", "additionalProperties": _STRING},
                },
                ("path", "clusters"),
            )
        },
        ("scope",),
    ),
    "ServerVersion": _object({"version": _STRING, "commitId": _STRING}, ("version",)),
}
