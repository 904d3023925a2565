"""The functions that are computed in Python; the catalogue's others need a stored query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.sql.analysis.typed import CallMeaning
from headwater.sql.errors import SqlError
from headwater.sql.server.rows.functions import STRICT
from headwater.sql.types.sql_type import STRING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.sql.analysis.typed import Typed
    from headwater.sql.server.rows.computation import Computation, Row


COMPUTED = sorted(
    {
        *STRICT,
        *("ARRAY_CONTAINS", "COALESCE", "CONCAT", "CONCAT_WS"),
        *("GREATEST", "IFNULL", "LEAST", "NULLIF"),
    }
)
"""The names of all of them."""


def called(typed: Typed, arguments: Sequence[Computation]) -> Computation:
    """Return what computes a call; raises SqlError for a function that only Spark has."""
    meaning = typed.meaning
    assert isinstance(meaning, CallMeaning)
    name = meaning.function.name
    if name == "ARRAY_CONTAINS":
        return _contained(arguments)
    if name in ("COALESCE", "IFNULL"):
        return lambda row: next(
            (value for each in arguments if (value := each(row)) is not None), None
        )
    if name in ("CONCAT", "CONCAT_WS") and typed.type == STRING:
        return (_concatenated if name == "CONCAT" else _with_separator)(arguments)
    if name == "NULLIF":
        return _null_if(arguments)
    # Where types differ, Spark makes them one first.
    if name in ("GREATEST", "LEAST") and all(part.type == typed.type for part in typed.parts):
        return _chosen(max if name == "GREATEST" else min, arguments)
    function = STRICT.get(name)
    if function is None:
        raise SqlError(
            f"{name} is not computed without a query that is stored; make one with CREATE STREAM "
            f"or CREATE TABLE ... AS SELECT. Without one there are {', '.join(COMPUTED)}",
            typed.expression.location,
        )

    def call(row: Row) -> Any:
        values = [each(row) for each in arguments]
        return None if None in values else function(*values)

    return call


def _contained(arguments: Sequence[Computation]) -> Computation:
    """Return whether an array has a value, which may be null; a null array has none."""
    array, value = arguments
    return lambda row: value(row) in (array(row) or ())


def _concatenated(arguments: Sequence[Computation]) -> Computation:
    def concatenate(row: Row) -> Any:
        values = [each(row) for each in arguments]
        return "".join(value for value in values if value is not None)

    return concatenate


def _with_separator(arguments: Sequence[Computation]) -> Computation:
    first, *others = arguments

    def join(row: Row) -> Any:
        separator = first(row)
        if separator is None:
            return None
        values = [each(row) for each in others]
        return separator.join(value for value in values if value is not None)

    return join


def _chosen(choose: Callable[[list[Any]], Any], arguments: Sequence[Computation]) -> Computation:
    """Return the greatest or least of values, of which nulls are none."""

    def compute(row: Row) -> Any:
        values = [value for each in arguments if (value := each(row)) is not None]
        return choose(values) if values else None

    return compute


def _null_if(arguments: Sequence[Computation]) -> Computation:
    value, other = arguments

    def compute(row: Row) -> Any:
        found = value(row)
        return None if found == other(row) else found

    return compute
