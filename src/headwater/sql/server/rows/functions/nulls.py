"""Nulls."""

from __future__ import annotations

from typing import Any

from headwater.sql.server.rows.equality import equal
from headwater.sql.server.rows.functions.row_call import CallMaker, lenient


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _null_if(value: Any, other: Any) -> Any:
    return None if value is None or equal(value, other) else value


FUNCTIONS: dict[str, CallMaker] = {
    "COALESCE": lenient(_first),
    "IFNULL": lenient(_first),
    "NULLIF": lenient(_null_if),
}
