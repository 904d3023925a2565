"""A declared type made of what a registered schema describes: fewer fields, wider numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.plan.schemas.types import Array, DataType, Map, Struct, as_nullable

if TYPE_CHECKING:
    from pyspark.sql import Column


def projected(value: Column, registered: DataType, declared: DataType) -> Column:
    """Return the value as the declared type, which does not contradict the registered one."""
    if as_nullable(registered) == as_nullable(declared):
        return value
    match registered, declared:
        case Struct(), Struct():
            fields = [
                projected(value.getField(found.name), found.type, field.type).alias(field.name)
                for field in declared.fields
                for found in (registered.field(field.name),)
                if found is not None
            ]
            return F.when(value.isNotNull(), F.struct(*fields))
        case Array(one), Array(other):
            return F.transform(value, lambda each: projected(each, one, other))
        case Map(_, one), Map(_, other):
            return F.transform_values(value, lambda _, each: projected(each, one, other))
    return value.cast(declared.ddl())
