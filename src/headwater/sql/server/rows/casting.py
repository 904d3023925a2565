"""Values of one type made into another: CAST, and what becomes of values by itself."""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import math
import re
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
_BLANK = " \t\n\r\f\v"
_WHOLE = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NUMBER = re.compile(_DECIMAL.pattern + "[dDfF]?")
_NO_NUMBER = re.compile(r"nan|[+-]?inf(?:inity)?", re.IGNORECASE)
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?")
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
    if is_number(target) and is_number(source):
        return _number(target)
    if is_number(target) and source == STRING:
        return _or_null(_number_of_text(target))
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
    return _or_null(lambda value: wrapped(int(value), target))


def _number_of_text(target: SqlType) -> Callable[[str], Any]:
    """Return what reads a number; one that is too long for its type is none."""

    def read(text: str) -> Any:
        given = text.strip(_BLANK)
        if target == DOUBLE:
            if _NUMBER.fullmatch(given) is not None:
                return float(given.rstrip("dDfF"))
            return float(_matching(_NO_NUMBER, given))
        if isinstance(target, Decimal):
            return quantized(decimal.Decimal(_matching(_DECIMAL, given)), target)
        number, width = int(_matching(_WHOLE, given)), _WIDTHS[target]
        return number if -width <= number < width else None

    return read


def _matching(pattern: re.Pattern[str], text: str) -> str:
    if pattern.fullmatch(text) is None:
        raise ValueError(f"{text} is no such number")
    return text


EXACT = decimal.Context(prec=120)
"""More digits than two numbers of 38 have between them, where Python's own 28 would round."""


def quantized(value: Any, type_: Decimal) -> decimal.Decimal | None:
    """Return a number with the digits of its type; None where it has too many."""
    exact = decimal.Decimal(str(value)) if isinstance(value, float) else decimal.Decimal(value)
    if not exact.is_finite():
        return None
    step = decimal.Decimal(1).scaleb(-type_.scale)
    with decimal.localcontext() as context:
        context.prec = 80
        found = exact.quantize(step, decimal.ROUND_HALF_UP)
    return found if len(found.as_tuple().digits) <= max(type_.precision, 1) else None


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
            return _java_double(value)
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


def _java_double(value: float) -> str:
    """Return the shortest text that says the number, as Java's Double.toString does."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value) if "e" not in repr(value) else f"{value:f}"
    sign, digits, exponent = decimal.Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    first, *others = map(str, digits)
    power = exponent + len(others)
    return f"{'-' if sign else ''}{first}.{''.join(others) or '0'}E{power}"


def _same(value: Any) -> Any:
    return value


def _is_true(text: str) -> bool:
    """Tell whether a text is the beginning of true or yes."""
    given = text.strip(_BLANK).lower()
    return given != "" and ("true".startswith(given) or "yes".startswith(given))


def _date_of(text: str) -> dt.date:
    found = _DATE.fullmatch(text.strip(_BLANK))
    if found is None:
        raise ValueError(f"{text} is no date")
    return dt.date(int(found[1]), int(found[2] or 1), int(found[3] or 1))


_FROM_TEXT: dict[SqlType, Callable[[str], Any]] = {
    BOOLEAN: _is_true,
    BYTES: lambda text: base64.b64decode(text, validate=True),
    DATE: _date_of,
    TIME: dt.time.fromisoformat,
    TIMESTAMP: timestamp_of,
}
assert set(TIMES) <= set(_FROM_TEXT)
