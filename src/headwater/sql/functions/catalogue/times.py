"""Dates, times and timestamps; patterns are those of Java's DateTimeFormatter."""

from __future__ import annotations

from functools import partial

from headwater.sql.functions.function import Function, scalar

_time = partial(scalar, "DATE / TIME")


def _moved(name: str, type_: str, direction: str) -> Function:
    return _time(
        name,
        f"A {type_} so many units {direction}.",
        f"(unit UNIT, interval INTEGER, value {type_}) {type_}",
    )


FUNCTIONS: tuple[Function, ...] = (
    _time(
        "CONVERT_TZ",
        "A timestamp of one time zone as that of another.",
        "(timestamp TIMESTAMP, from STRING, to STRING) TIMESTAMP",
    ),
    _moved("DATEADD", "DATE", "later"),
    _moved("DATESUB", "DATE", "earlier"),
    _time(
        "DATETOSTRING",
        "Days since 1970 as text by a pattern. Deprecated: FORMAT_DATE.",
        "(days INTEGER, pattern STRING) STRING",
    ),
    _time("FORMAT_DATE", "A date as text by a pattern.", "(date DATE, pattern STRING) STRING"),
    _time("FORMAT_TIME", "A time as text by a pattern.", "(time TIME, pattern STRING) STRING"),
    _time(
        "FORMAT_TIMESTAMP",
        "A timestamp as text by a pattern, in UTC or a time zone.",
        "(timestamp TIMESTAMP, pattern STRING, [zone STRING]) STRING",
    ),
    _time("FROM_DAYS", "The date so many days after 1970 began.", "(days INTEGER) DATE"),
    _time(
        "FROM_UNIXTIME",
        "The timestamp so many milliseconds after 1970 began.",
        "(milliseconds BIGINT) TIMESTAMP",
    ),
    _time("PARSE_DATE", "A text as date by a pattern.", "(text STRING, pattern STRING) DATE"),
    _time("PARSE_TIME", "A text as time by a pattern.", "(text STRING, pattern STRING) TIME"),
    _time(
        "PARSE_TIMESTAMP",
        "A text as timestamp by a pattern, in UTC or a time zone.",
        "(text STRING, pattern STRING, [zone STRING]) TIMESTAMP",
    ),
    _time(
        "STRINGTODATE",
        "A text as days since 1970 by a pattern. Deprecated: PARSE_DATE.",
        "(text STRING, pattern STRING) INTEGER",
    ),
    _time(
        "STRINGTOTIMESTAMP",
        "A text as milliseconds since 1970 by a pattern. Deprecated: PARSE_TIMESTAMP.",
        "(text STRING, pattern STRING, [zone STRING]) BIGINT",
    ),
    _moved("TIMEADD", "TIME", "later"),
    _moved("TIMESTAMPADD", "TIMESTAMP", "later"),
    _moved("TIMESTAMPSUB", "TIMESTAMP", "earlier"),
    _time(
        "TIMESTAMPTOSTRING",
        "Milliseconds since 1970 as text by a pattern. Deprecated: FORMAT_TIMESTAMP.",
        "(milliseconds BIGINT, pattern STRING, [zone STRING]) STRING",
    ),
    _moved("TIMESUB", "TIME", "earlier"),
    _time(
        "UNIX_DATE",
        "The days since 1970, of today or of a date.",
        "() INTEGER",
        "(date DATE) INTEGER",
    ),
    _time(
        "UNIX_TIMESTAMP",
        "The milliseconds since 1970, of now or of a timestamp.",
        "() BIGINT",
        "(timestamp TIMESTAMP) BIGINT",
    ),
)
