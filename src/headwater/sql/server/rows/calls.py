"""The few functions that are computed in Python; the catalogue's others need a stored query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.sql.analysis.typed import CallMeaning
from headwater.sql.errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.sql.analysis.typed import Typed
    from headwater.sql.server.rows.computation import Computation, Row


def called(typed: Typed, arguments: Sequence[Computation]) -> Computation:
    """Return what computes a call; raises SqlError for a function that only Spark has."""
    meaning = typed.meaning
    assert isinstance(meaning, CallMeaning)
    name = meaning.function.name
    if name in ("COALESCE", "IFNULL"):
        return lambda row: next(
            (value for each in arguments if (value := each(row)) is not None), None
        )
    if name == "CONCAT":
        return _concatenated(arguments)
    function = _STRICT.get(name)
    if function is None:
        raise SqlError(
            f"{name} is not computed without a query that is stored; make one with "
            "CREATE STREAM or CREATE TABLE ... AS SELECT",
            typed.expression.location,
        )

    def call(row: Row) -> Any:
        values = [each(row) for each in arguments]
        return None if None in values else function(*values)

    return call


def _concatenated(arguments: Sequence[Computation]) -> Computation:
    def concatenate(row: Row) -> Any:
        values = [each(row) for each in arguments]
        return "".join(value for value in values if value is not None)

    return concatenate


# What is null where an argument is.
_STRICT: dict[str, Callable[..., Any]] = {
    "ABS": abs,
    "LCASE": str.lower,
    "LEN": len,
    "TRIM": str.strip,
    "UCASE": str.upper,
}
