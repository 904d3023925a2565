"""A call of a function whose arguments are computed, and the ways to make its computation."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from headwater.sql.server.rows.row import Computation, Row
    from headwater.sql.types.sql_type import SqlType

MOST_ITEMS = 10_000_000
"""How long a text or an array may be that a function makes of short arguments."""


@dataclass(frozen=True)
class RowCall:
    """Arguments in the types that the function takes, and the type of the result.

    A lambda is an argument whose value is a callable. `units` has the units of time among the
    arguments, `texts` the arguments that are written out as texts.
    """

    arguments: tuple[Computation, ...]
    types: tuple[SqlType, ...]
    result: SqlType
    units: tuple[str, ...] = ()
    texts: tuple[str | None, ...] = ()


CallMaker: TypeAlias = Callable[[RowCall], "Computation"]


def strict(function: Callable[..., Any]) -> CallMaker:
    """Return a function that is null where an argument is; ValueError of it means null, too."""

    def make(call: RowCall) -> Computation:
        arguments = call.arguments

        def compute(row: Row) -> Any:
            values = [each(row) for each in arguments]
            if any(value is None for value in values):
                return None
            try:
                return function(*values)
            except (ValueError, ArithmeticError):
                return None

        return compute

    return make


def lenient(function: Callable[..., Any]) -> CallMaker:
    """Return a function that is given nulls; ValueError of it means null."""

    def make(call: RowCall) -> Computation:
        arguments = call.arguments

        def compute(row: Row) -> Any:
            values = [each(row) for each in arguments]
            try:
                return function(*values)
            except (ValueError, ArithmeticError):
                return None

        return compute

    return make


def typed(choose: Callable[[RowCall], CallMaker]) -> CallMaker:
    """Return a function that is another one for other types of its arguments."""
    return lambda call: choose(call)(call)


def checked(index: int, check: Callable[[str], object], maker: CallMaker) -> CallMaker:
    """Return a function whose argument is checked before there are rows, where it is a text.

    `check` raises SqlError for what only Spark can do; what is wrong (ValueError) is null later.
    """

    def make(call: RowCall) -> Computation:
        text = call.texts[index]
        if text is not None:
            with suppress(ValueError):
                check(text)
        return maker(call)

    return make


def within_limit(count: int) -> int:
    """Return how many items are to be made; what would fill the memory is none."""
    if count > MOST_ITEMS:
        raise ValueError(f"{count} items are more than {MOST_ITEMS}")
    return count
