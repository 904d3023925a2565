"""Avro schemas from the registry, with the schemas that they refer to put in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastavro.repository.base import AbstractSchemaRepository
from fastavro.schema import SchemaParseException, load_schema

from headwater.serde.errors import SchemaError, describe

if TYPE_CHECKING:
    from headwater.serde.registry_client import SchemaRegistryClient
    from headwater.serde.schema import Schema

_ROOT = "$root"


def load(schema: Schema, registry: SchemaRegistryClient | None) -> Any:
    """Return a schema as fastavro wants it; raises SchemaError.

    The registry is asked for references only.
    """
    definitions: dict[str, Any] = {}
    _collect(schema, registry, definitions)
    definitions[_ROOT] = schema.parse_json()
    try:
        return load_schema(_ROOT, repo=_Definitions(definitions))
    except (SchemaParseException, LookupError, TypeError, ValueError, RecursionError) as failure:
        raise SchemaError(f"this is no Avro schema: {describe(failure)}") from failure


def record_name_of(parsed: Any) -> str | None:
    """Return the full name of a record, enum or fixed, the type of a primitive; None of a union."""
    if isinstance(parsed, dict):
        name = parsed.get("name", parsed.get("type"))
        return name if isinstance(name, str) else None
    return parsed if isinstance(parsed, str) else None


class _Definitions(AbstractSchemaRepository):
    """Named types by their full names, as fastavro asks for those that it does not know."""

    def __init__(self, definitions: dict[str, Any]) -> None:
        self._definitions = definitions

    def load(self, name: str) -> Any:
        try:
            return self._definitions[name]
        except KeyError:
            raise SchemaError(
                f"this Avro schema uses '{name}', which it neither defines nor refers to"
            ) from None


def _collect(
    schema: Schema, registry: SchemaRegistryClient | None, definitions: dict[str, Any]
) -> None:
    for reference in schema.references:
        if registry is None:
            raise SchemaError(f"the reference '{reference.name}' needs a registry to be resolved")
        if reference.name in definitions:
            continue
        referenced = registry.get_version(reference.subject, reference.version, deleted=True)
        definition = referenced.schema.parse_json()
        definitions[reference.name] = definition
        if isinstance(definition, dict) and isinstance(definition.get("name"), str):
            namespace, name = definition.get("namespace"), definition["name"]
            full_name = f"{namespace}.{name}" if namespace and "." not in name else name
            definitions[full_name] = definition
        _collect(referenced.schema, registry, definitions)
