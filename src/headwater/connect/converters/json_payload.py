"""Values as types that Spark writes and reads as JSON the way JsonConverter does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it
from pyspark.sql.avro.functions import from_avro, to_avro

from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.spark_types import ddl, plan_type
from headwater.connect.data.sql_text import literal
from headwater.plan.schemas.types import Decimal, quoted

if TYPE_CHECKING:
    from pyspark.sql import Column


_KEEP_NULLS = {"ignoreNullFields": "false"}


class PayloadFormat(NamedTuple):
    """How JsonConverter is set."""

    numeric_decimals: bool = False
    replace_null: bool = True


def to_payload(value: Column, schema: Schema, how: PayloadFormat) -> Column:
    """Return a value of types that `to_json` writes as they are."""
    if how.replace_null and schema.default is not None:
        value = F.coalesce(value, F.expr(literal(schema.default, schema)))
    match schema.logical:
        case connect.DECIMAL:
            return value if how.numeric_decimals else F.base64(_unscaled(value, schema))
        case connect.DATE:
            return F.unix_date(value)
        case connect.TIMESTAMP:
            return F.unix_millis(value)
    if schema.type.is_primitive or is_plain(schema, how):
        return value
    match schema.type:
        case Type.STRUCT:
            fields = (
                to_payload(value.getField(each.name), each.schema, how).alias(each.name)
                for each in schema.fields
            )
            return F.when(value.isNotNull(), F.struct(*fields))
        case Type.ARRAY:
            items = _of(schema.value)
            return F.transform(value, lambda each: to_payload(each, items, how))
    return _map_payload(value, schema, how)


def payload_ddl(schema: Schema) -> str:
    """Return the type to read a value as, before `from_payload`."""
    match schema.logical:
        case connect.DECIMAL:
            return "variant"
        case connect.DATE:
            return "int"
        case connect.TIMESTAMP:
            return "bigint"
    match schema.type:
        case Type.STRUCT:
            fields = ",".join(
                f"{quoted(each.name)}:{payload_ddl(each.schema)}" for each in schema.fields
            )
            return f"struct<{fields}>"
        case Type.ARRAY:
            return f"array<{payload_ddl(_of(schema.value))}>"
        case Type.MAP if _of(schema.key).type is Type.STRING:
            return f"map<string,{payload_ddl(_of(schema.value))}>"
        case Type.MAP:
            return "array<array<variant>>"
    return ddl(schema)


def from_payload(value: Column, schema: Schema, how: PayloadFormat) -> Column:
    """Return what was read as a value of the schema's type."""
    found = _from_payload(value, schema, how)
    if how.replace_null and schema.default is not None:
        return F.coalesce(found, F.expr(literal(schema.default, schema)))
    return found


def json_text(value: Column, schema: Schema) -> Column:
    """Return a payload as JSON, also one that is no struct; nulls are written."""
    if not schema.type.is_primitive:
        return F.to_json(value, _KEEP_NULLS)
    # {"v":1} without what is around the value.
    text = F.to_json(F.struct(value.alias("v")), _KEEP_NULLS)
    return text.substr(F.lit(6), F.length(text) - 6)


def is_plain(schema: Schema, how: PayloadFormat) -> bool:
    """Whether Spark's own JSON is already what JsonConverter writes and reads."""
    if schema.logical not in (None, connect.TIME):
        return False
    if schema.default is not None and how.replace_null:
        return False
    match schema.type:
        case Type.STRUCT:
            return all(is_plain(each.schema, how) for each in schema.fields)
        case Type.ARRAY:
            return is_plain(_of(schema.value), how)
        case Type.MAP:
            return _of(schema.key).type is Type.STRING and is_plain(_of(schema.value), how)
    return True


def _from_payload(value: Column, schema: Schema, how: PayloadFormat) -> Column:
    match schema.logical:
        case connect.DECIMAL:
            return _decimal(value, schema)
        case connect.DATE:
            return F.date_from_unix_date(value)
        case connect.TIMESTAMP:
            return F.timestamp_millis(value)
    if schema.type.is_primitive or is_plain(schema, how):
        return value
    match schema.type:
        case Type.STRUCT:
            fields = (
                from_payload(value.getField(each.name), each.schema, how).alias(each.name)
                for each in schema.fields
            )
            return F.when(value.isNotNull(), F.struct(*fields))
        case Type.ARRAY:
            items = _of(schema.value)
            return F.transform(value, lambda each: from_payload(each, items, how))
    values = _of(schema.value)
    if _of(schema.key).type is Type.STRING:
        return F.transform_values(value, lambda _, each: from_payload(each, values, how))
    return F.map_from_entries(
        F.transform(value, lambda pair: F.struct(
            _typed(pair[0], _of(schema.key), how).alias("key"),
            _typed(pair[1], values, how).alias("value"),
        ))
    )  # fmt: skip


def _typed(value: Column, schema: Schema, how: PayloadFormat) -> Column:
    return from_payload(F.try_variant_get(value, "$", payload_ddl(schema)), schema, how)


def _map_payload(value: Column, schema: Schema, how: PayloadFormat) -> Column:
    key, of = _of(schema.key), _of(schema.value)
    if key.type is Type.STRING:
        return F.transform_values(value, lambda _, each: to_payload(each, of, how))
    # Pairs, as JSON's objects have text for keys alone.
    return F.transform(
        F.map_entries(value),
        lambda entry: F.array(
            _variant(to_payload(entry["key"], key, how), key),
            _variant(to_payload(entry["value"], of, how), of),
        ),
    )


def _variant(value: Column, schema: Schema) -> Column:
    if schema.type.is_primitive:
        return value.cast("variant")
    return F.to_variant_object(value)


def _unscaled(value: Column, schema: Schema) -> Column:
    # Avro's bytes are those that Connect has, behind their length, which is a single byte.
    return to_avro(value, _avro_decimal(schema)).substr(2, 1 << 30)


def _decimal(value: Column, schema: Schema) -> Column:
    type_ = ddl(schema)
    data = F.unbase64(F.try_variant_get(value, "$", "string"))
    size = F.unhex(F.lpad(F.hex(F.length(data) * 2), 2, "0"))
    from_bytes = from_avro(F.concat(size, data), _avro_decimal(schema), {"mode": "PERMISSIVE"})
    return F.when(F.schema_of_variant(value) == "STRING", from_bytes.cast(type_)).otherwise(
        F.try_variant_get(value, "$", type_)
    )


def _avro_decimal(schema: Schema) -> str:
    type_ = plan_type(schema)
    assert isinstance(type_, Decimal)
    return json.dumps(
        {
            "type": "bytes",
            "logicalType": "decimal",
            "precision": type_.precision,
            "scale": type_.scale,
        }
    )


def _of(schema: Schema | None) -> Schema:
    assert schema is not None  # a map's or an array's
    return schema
