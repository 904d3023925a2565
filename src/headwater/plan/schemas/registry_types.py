"""Types from schemas that a registry knows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from headwater.plan.errors import PlanError
from headwater.serde import RegistryError, RegistryUnreachableError, SchemaError

if TYPE_CHECKING:
    from headwater.plan.schemas.types import DataType
    from headwater.serde import Reference, Schema, SchemaRegistryClient

_NAMES = {"AVRO": "avro", "JSON": "jsonschema", "PROTOBUF": "protobuf"}
_SUBJECT_NOT_FOUND = 40401


class SchemaType(NamedTuple):
    """What the latest schema of a subject describes, and its text.

    Avro's references are resolved in the text; what a Protobuf schema imports stands beside it.
    """

    type: DataType
    text: str
    references: tuple[Reference, ...] = ()
    open_type: DataType | None = None
    """The type with `void` wherever a JSON Schema leaves open what may be there."""


def subject_type(registry: SchemaRegistryClient, subject: str, kind: str) -> SchemaType:
    """Return the type of a subject's latest version; refuse one of another kind."""
    try:
        found = registered_type(registry, subject, kind)
    except RegistryUnreachableError as error:
        raise PlanError(
            f"the type of {subject!r} cannot be read, and neither key_type= nor value_type= gives "
            f"it: {error}"
        ) from error
    if found is None:
        raise PlanError(
            f"the registry at {registry.urls[0]} has no subject {subject!r}: register a schema, "
            "or give the type with value_type= or key_type="
        )
    return found


def registered_type(
    registry: SchemaRegistryClient, subject: str, kind: str, message: str | None = None
) -> SchemaType | None:
    """Return the type of a subject's latest version, if there is the subject.

    `message` is the name of Protobuf's message, where it is not the file's first.
    """
    try:
        found = registry.get_latest_version(subject).schema
    except RegistryError as error:
        if error.error_code != _SUBJECT_NOT_FOUND:
            raise PlanError(f"the type of {subject!r} cannot be read: {error}") from error
        return None
    if _NAMES[found.type] != kind:
        raise PlanError(f"the subject {subject!r} is {_NAMES[found.type]}, not {kind}")
    try:
        return _READERS[kind](found, registry, message)
    except SchemaError as error:
        raise PlanError(f"the subject {subject!r} cannot be read: {error}") from error


def schema_type(
    schema: Schema, registry: SchemaRegistryClient, message: str | None = None
) -> SchemaType:
    """Return the type of a schema of any kind; the registry has what it refers to."""
    try:
        return _READERS[_NAMES[schema.type]](schema, registry, message)
    except SchemaError as error:
        raise PlanError(f"the schema cannot be read: {error}") from error


def from_avro(
    schema: Schema, registry: SchemaRegistryClient | None = None, _: str | None = None
) -> SchemaType:
    """Return the type of an Avro schema."""
    from headwater.plan.schemas.arrow_types import from_arrow
    from headwater.serde.arrow.avro_types import avro_type
    from headwater.serde.formats.avro_schema import load

    parsed = load(schema, registry)
    # Without references the text stays the registry's own, so that it is found again under its id.
    text = json.dumps(_without_marks(parsed)) if schema.references else schema.text
    return SchemaType(from_arrow(avro_type(parsed).logical), text)


def _from_json_schema(schema: Schema, registry: SchemaRegistryClient, _: str | None) -> SchemaType:
    from headwater.plan.schemas.arrow_types import from_arrow
    from headwater.serde.arrow.json_types import json_type, open_type, shown_type
    from headwater.serde.formats.json_schema import load_references

    found = json_type(schema.parse_json(), load_references(schema, registry))
    type_ = from_arrow(shown_type(found))
    return SchemaType(type_, schema.text, schema.references, from_arrow(open_type(found)))


def _from_protobuf(schema: Schema, registry: SchemaRegistryClient, name: str | None) -> SchemaType:
    from headwater.plan.schemas.arrow_types import from_arrow
    from headwater.serde.arrow.protobuf_types import message_type
    from headwater.serde.formats.protobuf_codec import descriptor_of, load_file

    message = load_file(schema, registry).class_named(name)
    type_ = from_arrow(message_type(descriptor_of(message)))
    return SchemaType(type_, schema.text, schema.references)


_READERS = {"avro": from_avro, "jsonschema": _from_json_schema, "protobuf": _from_protobuf}


def _without_marks(parsed: object) -> object:
    """fastavro marks what it has parsed with keys that are no part of Avro."""
    if isinstance(parsed, dict):
        return {k: _without_marks(v) for k, v in parsed.items() if not k.startswith("__")}
    return [_without_marks(part) for part in parsed] if isinstance(parsed, list) else parsed
