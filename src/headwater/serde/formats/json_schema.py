"""JSON with schemas from a registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import jsonschema_rs

from headwater.serde.codec import Codec
from headwater.serde.errors import SchemaError, describe
from headwater.serde.formats.json import decode_json, encode_json
from headwater.serde.registry_deserializer import RegistryDeserializer
from headwater.serde.registry_serializer import RegistrySerializer
from headwater.serde.schema import as_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.serde.registry_client import SchemaRegistryClient
    from headwater.serde.registry_deserializer import DeserializerSettings
    from headwater.serde.registry_serializer import SerializerSettings
    from headwater.serde.schema import Schema, SchemaType

# A value that is wrong in a thousand places is described by the first few.
_SHOWN_ERRORS = 3


class JsonSchemaSerializer(RegistrySerializer[Any]):
    """Writes JSON that its schema allows; `validate=False` does not check.

    The other settings are RegistrySerializer's. Subjects named after the record take the
    schema's title.
    """

    schema_type: ClassVar[SchemaType] = "JSON"

    def __init__(
        self,
        registry: SchemaRegistryClient,
        schema: str | Schema | None = None,
        *,
        validate: bool = True,
        **settings: Unpack[SerializerSettings],
    ) -> None:
        super().__init__(
            registry, None if schema is None else as_schema(schema, "JSON"), **settings
        )
        self._validate = validate
        if self._schema is not None:
            self._codec(self._schema)  # a wrong schema should be heard of here

    def _parse(self, schema: Schema) -> Codec:
        return load_codec(schema, self._registry, validate=self._validate)


class JsonSchemaDeserializer(RegistryDeserializer[Any]):
    """Reads JSON and checks it, by the reader's schema or else the writer's.

    `validate=False` does not check. The other settings are RegistryDeserializer's.
    """

    schema_type: ClassVar[SchemaType] = "JSON"

    def __init__(
        self,
        registry: SchemaRegistryClient,
        schema: str | Schema | None = None,
        *,
        validate: bool = True,
        **settings: Unpack[DeserializerSettings],
    ) -> None:
        super().__init__(
            registry, None if schema is None else as_schema(schema, "JSON"), **settings
        )
        self._validate = validate
        if self._schema is not None:
            self._codec(self._schema)

    def _parse(self, schema: Schema) -> Codec:
        return load_codec(schema, self._registry, validate=self._validate)


class JsonSchemaCodec(Codec):
    """One JSON Schema at work; without a validator, it lets everything pass."""

    def __init__(self, title: str | None, validator: jsonschema_rs.Validator | None) -> None:
        self.record_name = title
        self._validator = validator

    def encode(self, value: Any) -> bytes:
        """Return JSON; raises ValueError where the schema does not allow the value."""
        self.check(value)
        return encode_json(value)

    def decoder(self, reader: Codec | None) -> Callable[[bytes, int], Any]:
        """Return what parses payloads and checks them by the reader's schema."""
        check = reader.check if isinstance(reader, JsonSchemaCodec) else self.check

        def decode(data: bytes, start: int) -> Any:
            value = decode_json(data[start:])
            check(value)
            return value

        return decode

    def check(self, value: Any) -> None:
        """Raise ValueError that says what is wrong with a value, and where in it."""
        validator = self._validator
        if validator is None or validator.is_valid(value):
            return
        errors = list(validator.iter_errors(value))
        shown = "; ".join(_described(error) for error in errors[:_SHOWN_ERRORS])
        more = f"; and {len(errors) - _SHOWN_ERRORS} more" if len(errors) > _SHOWN_ERRORS else ""
        raise ValueError(f"the schema does not allow it: {shown}{more}")


def load_codec(
    schema: Schema, registry: SchemaRegistryClient, *, validate: bool = True
) -> JsonSchemaCodec:
    """Return a schema at work; raises SchemaError."""
    contents = schema.parse_json()
    title = contents.get("title") if isinstance(contents, dict) else None
    if not validate:
        return JsonSchemaCodec(title, None)
    resources = load_references(schema, registry)

    def find(uri: str) -> Any:
        # A name is relative to the schema that uses it, so that it arrives with a base in front.
        for name, resource in resources.items():
            if uri == name or uri.endswith(f"/{name.lstrip('/')}"):
                return resource
        raise LookupError(f"'{uri}' is not among the references of the schema")

    try:
        # The retriever also keeps the library from fetching addresses that a schema names.
        validator = jsonschema_rs.validator_for(contents, retriever=find)
    except (ValueError, TypeError, RecursionError) as failure:
        reason = failure.message if isinstance(failure, jsonschema_rs.ValidationError) else None
        raise SchemaError(f"this is no JSON schema: {reason or describe(failure)}") from failure
    return JsonSchemaCodec(title, validator)


def load_references(schema: Schema, registry: SchemaRegistryClient) -> dict[str, Any]:
    """Return the schemas that one refers to, and those that they refer to, by name."""
    resources: dict[str, Any] = {}
    _collect(schema, registry, resources)
    return resources


def _collect(schema: Schema, registry: SchemaRegistryClient, resources: dict[str, Any]) -> None:
    for reference in schema.references:
        if reference.name not in resources:
            referenced = registry.get_version(reference.subject, reference.version, deleted=True)
            resources[reference.name] = referenced.schema.parse_json()
            _collect(referenced.schema, registry, resources)


def _described(error: jsonschema_rs.ValidationError) -> str:
    path = "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.instance_path
    )
    return f"{path.lstrip('.')}: {error.message}" if path else str(error.message)
