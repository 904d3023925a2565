"""Which keys a condition asks for, so that a pull query need not look at the whole table."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from headwater.sql.analysis.scope import ColumnMeaning
from headwater.sql.errors import SqlError
from headwater.sql.server.rows.casting import caster
from headwater.sql.server.rows.computation import computation
from headwater.sql.tree import expressions as ex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.sql.analysis.typed import Typed
    from headwater.sql.metastore.source import DataSource

# More than this are found faster by looking at everything.
_MOST_KEYS = 10_000


def wanted_keys(where: Typed | None, source: DataSource) -> list[dict[str, Any]] | None:
    """Return the keys, as columns, that a condition can hold for; None where it may be any key.

    The condition still has to be looked at: other columns may be in it.
    """
    if where is None:
        return None
    choices = {}
    for column in source.key:
        for part in _conjuncts(where):
            values = _values(part, column.name)
            if values is not None:
                cast = [caster(typed.type, column.type)(value) for typed, value in values]
                choices[column.name] = list(dict.fromkeys(cast))
                break
        else:
            return None
    keys = itertools.product(*choices.values())
    found = [dict(zip(choices, key, strict=True)) for key in itertools.islice(keys, _MOST_KEYS + 1)]
    return found if len(found) <= _MOST_KEYS else None


def _conjuncts(where: Typed) -> Iterator[Typed]:
    if isinstance(where.expression, ex.Logical) and where.expression.operator == "AND":
        for part in where.parts:
            yield from _conjuncts(part)
    else:
        yield where


def _values(condition: Typed, key: str) -> list[tuple[Typed, Any]] | None:
    match condition.expression:
        case ex.Comparison("="):
            sides = list(condition.parts)
            if not _is_column(sides[0], key):
                sides.reverse()
            column, *values = sides
        case ex.In(_, _, False):
            column, *values = condition.parts
        case _:
            return None
    if not _is_column(column, key):
        return None
    try:
        return [(value, computation(value)({})) for value in values]
    except (SqlError, KeyError):  # it is another column, or what only Spark computes
        return None


def _is_column(typed: Typed, name: str) -> bool:
    return isinstance(typed.meaning, ColumnMeaning) and typed.meaning.name == name
