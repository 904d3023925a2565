"""What values of databases become: decimals, times and bytes, as the configuration says."""

from __future__ import annotations

import base64
import datetime
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.config import Values

_TIME = "io.debezium.time"
_DAY, _EPOCH = datetime.date(1970, 1, 1), datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - of no zone
_MILLI = datetime.timedelta(milliseconds=1)
_MICRO = datetime.timedelta(microseconds=1)
_MOST_DIGITS = 38


class ValueType(NamedTuple):
    """What a column becomes: its schema, how, and what stands for a null where none is taken."""

    schema: Schema
    convert: Callable[[Any], Any] | None = None
    zero: object = 0

    def optional(self, optional: bool) -> ValueType:
        """Return the same for a column that may be null."""
        return self._replace(schema=self.schema.as_optional()) if optional else self


@dataclass(frozen=True)
class Handling:
    """The handling modes of a configuration."""

    decimals: str
    times: str
    binary: str

    @classmethod
    def of(cls, config: Values) -> Self:
        """Take a connector's configuration."""
        return cls(
            config.text("decimal.handling.mode") or "precise",
            config.text("time.precision.mode") or "adaptive",
            config.text("binary.handling.mode") or "bytes",
        )

    def decimal(self, precision: int, scale: int) -> ValueType:
        """Return what a Decimal becomes; more than 38 digits have no place in Spark."""
        match self.decimals:
            case "double":
                return ValueType(Schema(Type.FLOAT64), float, 0.0)
            case "string":
                return ValueType(Schema(Type.STRING), _plain_digits, "0")
        if precision > _MOST_DIGITS:
            return ValueType(Schema(Type.STRING), _plain_digits, "0")
        return ValueType(connect.decimal(scale, precision), None, Decimal(0))

    def bytes(self) -> ValueType:
        """Return what bytes become."""
        encode = _ENCODINGS.get(self.binary)
        if encode is None:
            return ValueType(Schema(Type.BYTES), None, b"")
        return ValueType(Schema(Type.STRING), encode, "")

    def date(self) -> ValueType:
        """Return what a datetime.date becomes."""
        if self.times == "connect":
            return ValueType(connect.date(), None, _DAY)
        return ValueType(named(Type.INT32, f"{_TIME}.Date"), _days)

    def time(self, digits: int) -> ValueType:
        """Return what a time of day, a timedelta, becomes."""
        if self.times == "connect":
            return ValueType(connect.time(), _millis)
        if self.times == "adaptive" and digits <= 3:
            return ValueType(named(Type.INT32, f"{_TIME}.Time"), _millis)
        return ValueType(named(Type.INT64, f"{_TIME}.MicroTime"), _micros)

    def timestamp(self, digits: int) -> ValueType:
        """Return what a datetime.datetime without a time zone becomes."""
        if self.times == "connect":
            return ValueType(connect.timestamp(), _to_millis, _EPOCH)
        if digits <= 3:
            return ValueType(named(Type.INT64, f"{_TIME}.Timestamp"), _epoch_millis)
        return ValueType(named(Type.INT64, f"{_TIME}.MicroTimestamp"), _epoch_micros)


ZONED_TIMESTAMP = ValueType(
    Schema(Type.STRING, False, f"{_TIME}.ZonedTimestamp", 1),
    lambda moment: zoned(moment),
    "1970-01-01T00:00:00Z",
)


def named(type_: Type, name: str, **parameters: str) -> Schema:
    """Return the schema of one of Debezium's own logical types."""
    return Schema(type_, name=name, version=1, parameters=parameters)


def bits(length: int) -> ValueType:
    """Return what a bit string becomes: text of zeros and ones, or the highest byte first."""
    if length == 1:
        return ValueType(Schema(Type.BOOLEAN), _is_set, False)
    schema = named(Type.BYTES, "io.debezium.data.Bits", length=str(length))
    count = (length + 7) // 8

    def lowest_first(value: str | bytes) -> bytes:
        number = int(value, 2) if isinstance(value, str) else int.from_bytes(value, "big")
        return number.to_bytes(count, "little")

    return ValueType(schema, lowest_first, bytes(count))


def zoned(moment: datetime.datetime) -> str:
    """Return a moment in UTC as ISO 8601 has it, with as many digits as it takes.

    >>> zoned(datetime.datetime(2026, 1, 2, 3, 4, 5, 120000))
    '2026-01-02T03:04:05.12Z'
    """
    text = moment.replace(tzinfo=None).isoformat()
    return f"{text.rstrip('0') if moment.microsecond else text}Z"


def _is_set(value: str | bytes) -> bool:
    return value in ("1", b"\x01")


def _plain_digits(value: Decimal) -> str:
    return format(value, "f")


def _days(day: datetime.date) -> int:
    return (day - _DAY).days


def _millis(of_day: datetime.timedelta) -> int:
    return of_day // _MILLI


def _micros(of_day: datetime.timedelta) -> int:
    return of_day // _MICRO


def _epoch_millis(moment: datetime.datetime) -> int:
    return (moment - _EPOCH) // _MILLI


def _epoch_micros(moment: datetime.datetime) -> int:
    return (moment - _EPOCH) // _MICRO


def _to_millis(moment: datetime.datetime) -> datetime.datetime:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


_ENCODINGS: dict[str, Callable[[bytes], str]] = {
    "base64": lambda raw: base64.b64encode(raw).decode(),
    "base64-url-safe": lambda raw: base64.urlsafe_b64encode(raw).decode(),
    "hex": lambda raw: raw.hex(),
}
