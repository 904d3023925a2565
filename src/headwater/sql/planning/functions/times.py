"""Dates and times."""

from __future__ import annotations

from headwater.sql.planning.functions.function_call import FormulaMaker, text

FORMULAS: dict[str, FormulaMaker] = {
    "FORMAT_DATE": text("date_format({0}, {1})"),
    "FROM_DAYS": text("date_from_unix_date({0})"),
    "FROM_UNIXTIME": text("timestamp_millis({0})"),
    "PARSE_DATE": text("try_to_date({0}, {1})"),
    "UNIX_DATE": text("unix_date({0})"),
    "UNIX_TIMESTAMP": text("unix_millis({0})"),
}
