"""Values of one type made into another: CAST, and what becomes of values by itself."""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import math
from typing import TYPE_CHECKING, Any

from headwater.sql.errors import SqlError
from headwater.sql.types.sql_type import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    NULL,
    STRING,
    TIME,
    TIMES,
    TIMESTAMP,
    Array,
    Decimal,
    Map,
    SqlType,
    Struct,
    is_number,
)

if TYPE_CHECKING:
    from collections.abc import Callable

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MILLISECOND = dt.timedelta(milliseconds=1)
_TRUE = frozenset(("true", "t", "yes", "y"))
_WIDTHS: dict[SqlType, int] = {INTEGER: 2**31, BIGINT: 2**63}


def caster(source: SqlType, target: SqlType) -> Callable[[Any], Any]:
    """Return what makes a `target` of a `source`; raises SqlError where only Spark can."""
    if source in (target, NULL):
        return _same
    convert = _converter(source, target)

    def cast(value: Any) -> Any:
        return None if value is None else convert(value)

    return cast


def wrapped(number: int, type_: SqlType) -> int | None:
    """Return a whole number as its type has it: an INTEGER goes round, a long BIGINT is null."""
    width = _WIDTHS[type_]
    if -width <= number < width:
        return number
    return (number + width) % (2 * width) - width if type_ == INTEGER else None


def timestamp_of(text: str) -> dt.datetime:
    """Read a time as ksqlDB writes it, `2026-01-01T12:00:00.000`, or a part of it.

    >>> timestamp_of("2026-01")
    datetime.datetime(2026, 1, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    given = text.strip().replace(" ", "T", 1)
    if len(given) in (4, 7):
        given += "-01" * (2 if len(given) == 4 else 1)
    found = dt.datetime.fromisoformat(given)
    return found if found.tzinfo is not None else found.replace(tzinfo=dt.UTC)


def milliseconds_of(moment: dt.datetime) -> int:
    """Return a time as Kafka counts it."""
    return round((moment - EPOCH) / _MILLISECOND)


def at(milliseconds: int) -> dt.datetime:
    """Return the time that Kafka counts so."""
    return EPOCH + dt.timedelta(milliseconds=milliseconds)


def _converter(source: SqlType, target: SqlType) -> Callable[[Any], Any]:
    if target == STRING:
        return lambda value: text_of(value, source)
    if is_number(target) and (is_number(source) or source == STRING):
        return _number(target)
    match source, target:
        case Array(one), Array(other):
            inner = caster(one, other)
            return lambda value: [inner(item) for item in value]
        case Map(_, one), Map(_, other):
            inner = caster(one, other)
            return lambda value: {name: inner(item) for name, item in value.items()}
        case Struct(fields), Struct(wanted):
            given = dict(fields)
            makers = {name: caster(given.get(name, NULL), type_) for name, type_ in wanted}
            return lambda value: {name: make(value.get(name)) for name, make in makers.items()}
    if source == STRING and target in _FROM_TEXT:
        return _or_null(_FROM_TEXT[target])
    if source == TIMESTAMP and target == DATE:
        return lambda value: value.date()
    if source == TIMESTAMP and target == TIME:
        return lambda value: value.time()
    if source == DATE and target == TIMESTAMP:
        return lambda value: dt.datetime.combine(value, dt.time(), dt.UTC)
    raise SqlError(f"{source} cannot be made {target} without a query that is stored")


def _number(target: SqlType) -> Callable[[Any], Any]:
    if target == DOUBLE:
        return _or_null(float)
    if isinstance(target, Decimal):
        return _or_null(lambda value: quantized(value, target))
    return _or_null(lambda value: wrapped(_whole(value), target))


def quantized(value: Any, type_: Decimal) -> decimal.Decimal | None:
    """Return a number with the digits of its type; None where it has too many."""
    exact = decimal.Decimal(str(value)) if isinstance(value, float) else decimal.Decimal(value)
    step = decimal.Decimal(1).scaleb(-type_.scale)
    with decimal.localcontext() as context:
        context.prec = 80
        found = exact.quantize(step, decimal.ROUND_HALF_UP)
    return found if len(found.as_tuple().digits) <= max(type_.precision, 1) else None


def _whole(value: Any) -> int:
    return int(value.strip()) if isinstance(value, str) else int(value)


def _or_null(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a conversion that has null for what cannot be converted, as ksqlDB has."""

    def tried(value: Any) -> Any:
        try:
            return convert(value)
        except (ValueError, OverflowError, decimal.InvalidOperation):
            return None

    return tried


def text_of(value: Any, type_: SqlType) -> str:
    """Return a value as CAST(... AS STRING) writes it."""
    match value, type_:
        case None, _:
            return "null"
        case bool(), _:
            return "true" if value else "false"
        case float(), _:
            return _double(value)
        case list(), Array(element):
            return "[" + ", ".join(text_of(item, element) for item in value) + "]"
        case dict(), Map(_, item):
            inner = (f"{name}={text_of(part, item)}" for name, part in value.items())
            return "{" + ", ".join(inner) + "}"
        case dict(), Struct(fields):
            parts = (f"{name}={text_of(value.get(name), part)}" for name, part in fields)
            return "Struct{" + ",".join(parts) + "}"
        case dt.datetime(), _:
            return value.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{_ms(value):03d}"
        case dt.date(), _:
            return value.isoformat()
        case dt.time(), _:
            return value.isoformat("milliseconds" if value.microsecond else "auto")
        case bytes(), _:
            return base64.b64encode(value).decode()
        case _:
            return str(value)


def _ms(moment: dt.datetime) -> int:
    return moment.microsecond // 1000


def _double(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)


def _same(value: Any) -> Any:
    return value


_FROM_TEXT: dict[SqlType, Callable[[str], Any]] = {
    BOOLEAN: lambda text: text.strip().lower() in _TRUE,
    BYTES: lambda text: base64.b64decode(text, validate=True),
    DATE: dt.date.fromisoformat,
    TIME: dt.time.fromisoformat,
    TIMESTAMP: timestamp_of,
}
assert set(TIMES) <= set(_FROM_TEXT)
