"""Dates, times and timestamps; patterns are Java's, which Spark does not take all of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.errors import SqlError
from headwater.sql.planning.functions.function_call import FormulaMaker, FunctionCall, text
from headwater.sql.types.sql_type import DATE, TIME

if TYPE_CHECKING:
    from headwater.plan.expressions.expressions import Expression

_DAY_MS = 86_400_000
_UNITS_MS = {
    "DAY": _DAY_MS,
    "HOUR": 3_600_000,
    "MINUTE": 60_000,
    "SECOND": 1_000,
    "MILLISECOND": 1,
}
_UTC = "'UTC'"


def _moved(sign: str) -> FormulaMaker:
    """Return a time so many units later or earlier; a time of day goes round."""

    def make(call: FunctionCall) -> Expression:
        unit = call.units[0].upper().removesuffix("S")
        if unit not in _UNITS_MS:
            raise SqlError(f"{call.units[0]} has no fixed length to move a time by")
        by = f"CAST({{0}} AS bigint) * {_UNITS_MS[unit]}L"
        if call.result == DATE:
            millis = f"unix_date({{1}}) * {_DAY_MS}L {sign} {by}"
            days = f"CAST(floor(({millis}) / {_DAY_MS}D) AS int)"
            return call.formula(f"date_from_unix_date({days})")
        if call.result == TIME:
            millis = f"pmod(time_to_millis({{1}}) {sign} {by}, {_DAY_MS}L)"
            return call.formula(f"time_from_millis({millis})")
        return call.formula(f"timestamp_millis(unix_millis({{1}}) {sign} {by})")

    return make


def _zoned(template: str) -> FormulaMaker:
    """Return a function whose last argument, a zone, may be missing."""

    def make(call: FunctionCall) -> Expression:
        zone = "{2}" if len(call.arguments) > 2 else _UTC
        return call.formula(template.replace("#", zone))

    return make


def _now_or(now: str, of: str) -> FormulaMaker:
    return lambda call: call.formula(of if call.arguments else now)


_DAYS = f"CAST(floor(hw_parse_time({{0}}, {{1}}, {_UTC}) / {_DAY_MS}D) AS int)"

FORMULAS: dict[str, FormulaMaker] = {
    "CONVERT_TZ": text("timestamp_millis(hw_convert_zone(unix_millis({0}), {1}, {2}))"),
    "DATEADD": _moved("+"),
    "DATESUB": _moved("-"),
    "DATETOSTRING": text(f"hw_format_time({{0}} * {_DAY_MS}L, {{1}}, {_UTC})"),
    "FORMAT_DATE": text(f"hw_format_time(unix_date({{0}}) * {_DAY_MS}L, {{1}}, {_UTC})"),
    "FORMAT_TIME": text(f"hw_format_time(time_to_millis({{0}}), {{1}}, {_UTC})"),
    "FORMAT_TIMESTAMP": _zoned("hw_format_time(unix_millis({0}), {1}, #)"),
    "FROM_DAYS": text("date_from_unix_date({0})"),
    "FROM_UNIXTIME": text("timestamp_millis({0})"),
    "PARSE_DATE": text(f"date_from_unix_date({_DAYS})"),
    "PARSE_TIME": text(f"time_from_millis(pmod(hw_parse_time({{0}}, {{1}}, {_UTC}), {_DAY_MS}L))"),
    "PARSE_TIMESTAMP": _zoned("timestamp_millis(hw_parse_time({0}, {1}, #))"),
    "STRINGTODATE": text(_DAYS),
    "STRINGTOTIMESTAMP": _zoned("hw_parse_time({0}, {1}, #)"),
    "TIMEADD": _moved("+"),
    "TIMESTAMPADD": _moved("+"),
    "TIMESTAMPSUB": _moved("-"),
    "TIMESTAMPTOSTRING": _zoned("hw_format_time({0}, {1}, #)"),
    "TIMESUB": _moved("-"),
    "UNIX_DATE": _now_or("unix_date(current_date())", "unix_date({0})"),
    "UNIX_TIMESTAMP": _now_or("unix_millis(current_timestamp())", "unix_millis({0})"),
}
