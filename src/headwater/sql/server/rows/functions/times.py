"""Dates, times and timestamps."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from headwater.sql.errors import SqlError
from headwater.sql.server.rows.casting import EPOCH, at, milliseconds_of
from headwater.sql.server.rows.functions.row_call import CallMaker, RowCall, checked, strict, typed
from headwater.sql.server.rows.functions.time_patterns import pattern
from headwater.sql.server.rows.functions.zones import offset_of, zone
from headwater.sql.types.sql_type import DATE, TIME

if TYPE_CHECKING:
    from collections.abc import Callable

_UNITS = {
    "DAY": dt.timedelta(days=1),
    "HOUR": dt.timedelta(hours=1),
    "MINUTE": dt.timedelta(minutes=1),
    "SECOND": dt.timedelta(seconds=1),
    "MILLISECOND": dt.timedelta(milliseconds=1),
}


def _moved(sign: int) -> CallMaker:
    """Return a time so many units later or earlier; a time of day goes round."""

    def choose(call: RowCall) -> CallMaker:
        unit = _UNITS.get(call.units[0].upper().removesuffix("S"))
        if unit is None:
            raise SqlError(f"{call.units[0]} has no fixed length to move a time by")
        step = unit * sign

        def move(count: int, value: Any) -> Any:
            if call.result == DATE:
                midnight = dt.datetime.combine(value, dt.time())
                return (midnight + count * step).date()
            if call.result == TIME:
                day = dt.datetime.combine(EPOCH.date(), value)
                return (day + (count * step) % dt.timedelta(days=1)).time()
            return value + count * step

        return strict(move)

    return typed(choose)


def _convert_zone(value: dt.datetime, given: str, wanted: str) -> dt.datetime:
    """Return the time at which another zone's clocks show what those of this one do."""
    before, after = (offset_of(value.astimezone(zone(name))) for name in (given, wanted))
    return value + dt.timedelta(seconds=after - before)


def _written(value: dt.datetime, text: str, name: str = "UTC") -> str:
    return pattern(text).text(value.astimezone(zone(name)))


def _read(text: str, wanted: str, name: str = "UTC") -> dt.datetime:
    return pattern(wanted).read(text, zone(name)).astimezone(dt.UTC)


def _to_the_millisecond(value: dt.datetime) -> dt.datetime:
    return value.replace(microsecond=value.microsecond // 1000 * 1000)


def _days(value: dt.date) -> int:
    return (value - EPOCH.date()).days


def _midnight(value: dt.date) -> dt.datetime:
    return dt.datetime.combine(value, dt.time(), dt.UTC)


def _on_first_day(value: dt.time) -> dt.datetime:
    return dt.datetime.combine(EPOCH.date(), value, dt.UTC)


def _now_or(now: Callable[[], Any], of: Callable[[Any], Any]) -> CallMaker:
    return typed(lambda call: strict(of if call.arguments else now))


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


def _writing(function: Callable[..., Any]) -> CallMaker:
    return checked(1, pattern, strict(function))


def _reading(function: Callable[..., Any]) -> CallMaker:
    return checked(1, lambda text: pattern(text).reading(), strict(function))


FUNCTIONS: dict[str, CallMaker] = {
    "CONVERT_TZ": strict(_convert_zone),
    "DATEADD": _moved(1),
    "DATESUB": _moved(-1),
    "DATETOSTRING": _writing(
        lambda days, text: _written(EPOCH + dt.timedelta(days=days), text),
    ),
    "FORMAT_DATE": _writing(lambda value, text: _written(_midnight(value), text)),
    "FORMAT_TIME": _writing(lambda value, text: _written(_on_first_day(value), text)),
    "FORMAT_TIMESTAMP": _writing(_written),
    "FROM_DAYS": strict(lambda days: EPOCH.date() + dt.timedelta(days=days)),
    "FROM_UNIXTIME": strict(at),
    "PARSE_DATE": _reading(lambda text, wanted: _read(text, wanted).date()),
    "PARSE_TIME": _reading(lambda text, wanted: _to_the_millisecond(_read(text, wanted)).time()),
    "PARSE_TIMESTAMP": _reading(lambda *given: _to_the_millisecond(_read(*given))),
    "STRINGTODATE": _reading(lambda text, wanted: _days(_read(text, wanted).date())),
    "STRINGTOTIMESTAMP": _reading(
        lambda *given: milliseconds_of(_to_the_millisecond(_read(*given)))
    ),
    "TIMEADD": _moved(1),
    "TIMESTAMPADD": _moved(1),
    "TIMESTAMPSUB": _moved(-1),
    "TIMESTAMPTOSTRING": _writing(lambda millis, *given: _written(at(millis), *given)),
    "TIMESUB": _moved(-1),
    "UNIX_DATE": _now_or(lambda: _days(_now().date()), _days),
    "UNIX_TIMESTAMP": _now_or(lambda: milliseconds_of(_now()), milliseconds_of),
}
