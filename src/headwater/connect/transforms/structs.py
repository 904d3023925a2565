"""Records with a schema: the parts of a struct as expressions, and a new struct of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.connect.data.schema import Field, Schema, Type
from headwater.connect.data.sql_text import field_of, literal, struct_of, text, unless_null
from headwater.connect.transforms.transform import TransformError

if TYPE_CHECKING:
    from collections.abc import Iterable


class Part(NamedTuple):
    """A field of a struct that is to be made."""

    name: str
    sql: str
    schema: Schema


def parts_of(struct: str, schema: Schema, purpose: str, *, replace_null: bool) -> list[Part]:
    """Return the fields of a struct; raises TransformError for what is none."""
    require_struct(schema, purpose)
    return [
        Part(each.name, value_of(struct, each, replace_null=replace_null), each.schema)
        for each in schema.fields
    ]


def value_of(struct: str, field: Field, *, replace_null: bool) -> str:
    """Return a field's value, with its default for null if that is wanted."""
    found = field_of(struct, field.name)
    if not replace_null or field.schema.default is None:
        return found
    return f"coalesce({found}, {literal(field.schema.default, field.schema)})"


def new_struct(parts: Iterable[Part]) -> str:
    """Return a struct of the parts."""
    return struct_of((part.name, part.sql) for part in parts)


def new_struct_like(struct: str, parts: Iterable[Part]) -> str:
    """Return a struct of the parts where there was one, and null where there was none."""
    return unless_null(struct, new_struct(parts))


def new_schema(basics: Schema, parts: Iterable[Part]) -> Schema:
    """Return the parts' schema, with the name, version, doc and parameters of another.

    It is not optional and has no default, as Kafka's transforms make them. Raises TransformError
    for two fields of one name.
    """
    fields: dict[str, Field] = {}
    for part in parts:
        if part.name in fields:
            raise TransformError(
                f"Cannot create field because of field name duplication {part.name}"
            )
        fields[part.name] = Field(part.name, part.schema)
    return Schema(
        Type.STRUCT,
        name=basics.name,
        version=basics.version,
        doc=basics.doc,
        parameters=basics.parameters,
        fields=tuple(fields.values()),
    )


def require_struct(schema: Schema, purpose: str) -> None:
    """Raise TransformError for a schema that is not of a struct."""
    if schema.type is not Type.STRUCT:
        raise TransformError(
            f"Only Struct objects supported for [{purpose}], found: {schema.type.value}"
        )


def null_struct(struct: str, purpose: str) -> str:
    """Return the failure of records without the struct that is needed."""
    message = f"Only Struct objects supported for [{purpose}], found: null"
    return f"if({struct} is null, {text(message)}, null)"
