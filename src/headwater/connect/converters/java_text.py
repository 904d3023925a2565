"""Values as text, as Java prints Connect's: what StringConverter and the FileStream sink write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type

if TYPE_CHECKING:
    from pyspark.sql import Column

_JAVA_DATE = "EEE MMM dd HH:mm:ss zzz yyyy"


def java_text(value: Column, schema: Schema | None) -> Column:
    """Return the text; null stays null, and inside of others it is `null` or left out, as there."""
    match schema:
        case Schema(type=Type.STRUCT, fields=fields):
            # A field without a value is left out, as concat_ws leaves out nulls.
            parts = (
                F.concat(F.lit(f"{each.name}="), java_text(value.getField(each.name), each.schema))
                for each in fields
            )
            shown = F.concat(F.lit("Struct{"), F.concat_ws(",", *parts), F.lit("}"))
            return F.when(value.isNotNull(), shown)
        case Schema(type=Type.ARRAY, value=Schema() as items):
            texts = F.transform(value, lambda item: _or_null(item, items))
            return F.concat(F.lit("["), F.array_join(texts, ", "), F.lit("]"))
        case Schema(type=Type.MAP, key=Schema() as keys, value=Schema() as values):
            texts = F.transform(
                F.map_entries(value),
                lambda entry: F.concat(
                    java_text(entry.getField("key"), keys),
                    F.lit("="),
                    _or_null(entry.getField("value"), values),
                ),
            )
            return F.concat(F.lit("{"), F.array_join(texts, ", "), F.lit("}"))
        case Schema(logical=connect.DATE | connect.TIMESTAMP):
            return F.date_format(value, _JAVA_DATE)
    return value.cast("string")


def _or_null(value: Column, schema: Schema) -> Column:
    return F.coalesce(java_text(value, schema), F.lit("null"))
