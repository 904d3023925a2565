"""One schema for records of two, and values of one as values of both."""

from __future__ import annotations

from dataclasses import replace

from headwater.connect.data.schema import Field, Schema, Type
from headwater.connect.data.spark_types import ddl
from headwater.connect.data.sql_text import field_of, struct_of, unless_null


def merged_schema(first: Schema | None, second: Schema | None) -> Schema:
    """Return a schema with the fields of both; a field that one lacks is optional.

    Name, version and so on are the first one's. Raises ValueError where the two have no type in
    common.
    """
    if first is None or second is None:
        raise ValueError("some have a schema, and others have none")
    optional = first.optional or second.optional
    if Type.STRUCT not in (first.type, second.type) and ddl(first) == ddl(second):
        return replace(first, optional=optional)
    if first.type is not second.type or first.type is not Type.STRUCT:
        raise ValueError(f"{ddl(first)} and {ddl(second)} have no type in common")
    fields: dict[str, Field] = {}
    for each in first.fields:
        other = second.field(each.name)
        schema = each.schema.as_optional()
        if other is not None:
            try:
                schema = merged_schema(each.schema, other.schema)
            except ValueError as refusal:
                raise ValueError(f"field {each.name}: {refusal}") from None
        fields[each.name] = Field(each.name, schema)
    for each in second.fields:
        fields.setdefault(each.name, Field(each.name, each.schema.as_optional()))
    return replace(first, optional=optional, fields=tuple(fields.values()))


def fitted(value: str, schema: Schema | None, merged: Schema) -> str:
    """Return a value of one of the schemas as one of both."""
    if schema is None or ddl(schema) == ddl(merged):
        return value
    fields = (
        (
            each.name,
            f"cast(null as {ddl(each.schema)})"
            if (found := schema.field(each.name)) is None
            else fitted(field_of("r", each.name), found.schema, each.schema),
        )
        for each in merged.fields
    )
    # A list of one gives the value a name, so that it stands here once.
    return f"transform(array({value}), r -> {unless_null('r', struct_of(fields))})[0]"
