"""Values as another type, as Java casts them: numbers that do not fit lose their upper bits."""

from __future__ import annotations

import base64
import datetime
import math
import struct
from decimal import Decimal, InvalidOperation

from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.spark_types import ddl
from headwater.connect.data.sql_text import text
from headwater.connect.transforms.transform import TransformError

_BITS = {Type.INT8: 8, Type.INT16: 16, Type.INT32: 32, Type.INT64: 64}
_DAY_MS = 86_400_000


def cast_sql(value: str, schema: Schema, target: Type) -> str:
    """Return a value as another type; null for text that is none. Raises TransformError."""
    if not schema.type.is_primitive:
        raise TransformError(
            f"Cast transformation does not support casting to/from {schema.type.value.upper()}"
        )
    if target is Type.STRING:
        return as_text(value, schema)
    value, schema = _physical(value, schema)
    if schema.logical == connect.DECIMAL:
        return _from_decimal(value, target)
    match schema.type:
        case Type.BYTES:
            raise TransformError("Unexpected type in Cast transformation: bytes")
        case Type.STRING:
            return _from_text(value, target)
        case Type.BOOLEAN:
            if target is Type.BOOLEAN:
                return value
            return f"cast(cast({value} as int) as {ddl(Schema(target))})"
        case Type.FLOAT32 | Type.FLOAT64:
            return _from_float(value, target)
    return _from_integer(value, target)


def as_text(value: str, schema: Schema) -> str:
    """Return a value as Connect writes it as text."""
    match schema.logical:
        case connect.DATE:
            return date_text(f"cast({value} as timestamp)")
        case connect.TIME:
            return date_text(f"timestamp_millis(cast({value} as bigint))")
        case connect.TIMESTAMP:
            return date_text(value)
    if schema.type is Type.BYTES and schema.logical is None:
        return f"base64({value})"
    return f"cast({value} as string)"


def date_text(moment: str) -> str:
    """Return a moment as text: as a time on the first day, a date at midnight, or both."""
    millis = f"unix_millis({moment})"
    return (
        f"case when {millis} < {_DAY_MS} then date_format({moment}, {text(_TIME)}) "
        f"when {millis} % {_DAY_MS} = 0 then date_format({moment}, 'yyyy-MM-dd') "
        f"else date_format({moment}, {text(_BOTH)}) end"
    )


_TIME = "HH:mm:ss.SSS'Z'"
_BOTH = f"yyyy-MM-dd'T'{_TIME}"


def cast_default(value: object, schema: Schema, target: Type) -> object:
    """Return a default as another type; raises TransformError for text that is none."""
    number = _number(value, schema)
    try:
        match target:
            case Type.STRING:
                return _default_text(value, schema)
            case Type.BOOLEAN:
                if isinstance(value, str):
                    return value.lower() == "true"
                return int(number) != 0 if isinstance(number, float | Decimal | int) else None
            case Type.FLOAT32:
                return struct.unpack("f", struct.pack("f", float(number)))[0]
            case Type.FLOAT64:
                return float(number)
        if isinstance(number, float):
            limit = 1 << (max(_BITS[target], 32) - 1)
            number = 0 if math.isnan(number) else max(-limit, min(limit - 1, number))
        return _wrapped(int(number), _BITS[target])
    except (ValueError, InvalidOperation, TypeError):
        raise TransformError(f"Value ({value}) was out of range for requested data type") from None


def _physical(value: str, schema: Schema) -> tuple[str, Schema]:
    match schema.logical:
        case connect.DATE:
            return f"unix_date({value})", Schema(Type.INT32)
        case connect.TIMESTAMP:
            return f"unix_millis({value})", Schema(Type.INT64)
    return value, schema


def _from_integer(value: str, target: Type) -> str:
    if target is Type.BOOLEAN:
        return f"({value} <> 0)"
    bits = _BITS.get(target)
    if bits is None or bits == _BITS[Type.INT64]:
        return f"cast({value} as {ddl(Schema(target))})"
    high = 1 << (bits - 1)
    wrapped = f"((cast({value} as bigint) & {2 * high - 1}L) ^ {high}L) - {high}L"
    return f"cast({wrapped} as {ddl(Schema(target))})"


def _from_float(value: str, target: Type) -> str:
    if target in (Type.FLOAT32, Type.FLOAT64):
        return f"cast({value} as {ddl(Schema(target))})"
    if target is Type.BOOLEAN:
        return f"({_saturated(value, Type.INT64)} <> 0)"
    if target is Type.INT64:
        return _saturated(value, Type.INT64)
    return _from_integer(_saturated(value, Type.INT32), target)


def _saturated(value: str, target: Type) -> str:
    limit = 1 << (_BITS[target] - 1)
    type_ = ddl(Schema(target))
    lowest = f"cast('{-limit}' as {type_})"
    return (
        f"case when isnan({value}) then cast(0 as {type_}) "
        f"when {value} >= {limit - 1}D then cast('{limit - 1}' as {type_}) "
        f"when {value} <= -{limit}D then {lowest} else try_cast({value} as {type_}) end"
    )


def _from_decimal(value: str, target: Type) -> str:
    if target in (Type.FLOAT32, Type.FLOAT64):
        return f"cast({value} as {ddl(Schema(target))})"
    return _from_integer(f"try_cast({value} as bigint)", target)


def _from_text(value: str, target: Type) -> str:
    if target is Type.BOOLEAN:
        return f"(lower({value}) = 'true')"
    if target in _BITS:
        digits = text(r"\A[+-]?[0-9]+\z")
        return f"if({value} rlike {digits}, try_cast({value} as {ddl(Schema(target))}), null)"
    return f"try_cast({value} as {ddl(Schema(target))})"


def _number(value: object, schema: Schema) -> int | float | Decimal | str:
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    match value:
        case bool():
            return int(value)
        case datetime.datetime():
            return (value - epoch) // datetime.timedelta(milliseconds=1)
        case datetime.date():
            return (value - epoch.date()).days
        case int() | float() | Decimal() | str():
            return value
    raise TransformError(f"Unexpected type in Cast transformation: {schema.type.value}")


def _default_text(value: object, schema: Schema) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case bytes():
            return base64.b64encode(value).decode()
        case datetime.datetime() | datetime.date():
            return value.isoformat()
    if schema.logical == connect.TIME:
        return str(datetime.timedelta(milliseconds=int(str(value))))
    return str(value)


def _wrapped(number: int, bits: int) -> int:
    high = 1 << (bits - 1)
    return ((number & (2 * high - 1)) ^ high) - high
