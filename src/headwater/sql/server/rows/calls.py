"""Calls of functions, with arguments in the types that each takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.sql.analysis.typed import CallMeaning
from headwater.sql.server.rows.casting import caster
from headwater.sql.server.rows.functions.all_functions import FUNCTIONS
from headwater.sql.server.rows.functions.row_call import RowCall
from headwater.sql.tree import expressions as ex

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.sql.analysis.typed import Typed
    from headwater.sql.server.rows.row import Computation
    from headwater.sql.types.sql_type import SqlType


def called(typed: Typed, computation: Callable[[Typed], Computation]) -> Computation:
    """Return what computes a call, whose arguments `computation` computes."""
    meaning = typed.meaning
    assert isinstance(meaning, CallMeaning)
    assert isinstance(typed.expression, ex.Call)
    wanted = meaning.call.parameters
    types = tuple(type_ for type_ in wanted if type_ is not None)
    units = tuple(
        argument.name
        for argument, type_ in zip(typed.expression.arguments, wanted, strict=True)
        if type_ is None and isinstance(argument, ex.Column)
    )
    arguments = tuple(
        _argument(part, type_, computation) for part, type_ in zip(typed.parts, types, strict=True)
    )
    texts = tuple(
        part.expression.value if isinstance(part.expression, ex.StringLiteral) else None
        for part in typed.parts
    )
    return FUNCTIONS[meaning.function.name](RowCall(arguments, types, typed.type, units, texts))


def _argument(
    part: Typed, wanted: SqlType, computation: Callable[[Typed], Computation]
) -> Computation:
    inner = computation(part)
    if isinstance(part.expression, ex.Lambda) or part.type == wanted:
        return inner
    cast: Callable[[Any], Any] = caster(part.type, wanted)
    return lambda row: cast(inner(row))
