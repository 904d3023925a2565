"""Expressions as trees of which only the shape matters: their parts, and columns fully named."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from headwater.sql.tree.expressions import Column, Expression, Lambda
from headwater.sql.tree.node import Node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.sql.analysis.scope import Scope


def parts(expression: Expression) -> Iterator[Expression]:
    """Return the expressions that one is directly made of."""
    for field in dataclasses.fields(expression):
        yield from _expressions(getattr(expression, field.name))


def walk(expression: Expression) -> Iterator[Expression]:
    """Return an expression and all those within it."""
    yield expression
    for part in parts(expression):
        yield from walk(part)


def qualified(expression: Expression, scope: Scope) -> Expression:
    """Return the expression with the source before each column, so that equal ones are equal.

    Names that are no column are left as they are, for those who look at types to refuse.
    """
    found: Expression = _rewritten(expression, scope, frozenset())
    return found


def _rewritten(value: Any, scope: Scope, parameters: frozenset[str]) -> Any:
    match value:
        case Column(name, None) if name in parameters:
            return value
        case Column(name, None):
            owners = scope.owners(name)
            return dataclasses.replace(value, source=owners[0]) if len(owners) == 1 else value
        case Lambda(names):
            inner = parameters | frozenset(names)
            return dataclasses.replace(value, body=_rewritten(value.body, scope, inner))
        case tuple():
            return tuple(_rewritten(part, scope, parameters) for part in value)
        case Node():
            changes = {
                field.name: _rewritten(getattr(value, field.name), scope, parameters)
                for field in dataclasses.fields(value)
                if field.name != "location"
            }
            return dataclasses.replace(value, **changes)
        case _:
            return value


def _expressions(value: Any) -> Iterator[Expression]:
    if isinstance(value, tuple):
        for part in value:
            yield from _expressions(part)
    elif isinstance(value, Expression):
        yield value
    elif isinstance(value, Node):
        # WHEN ... THEN is a part of CASE and no expression itself; types have none within.
        for field in dataclasses.fields(value):
            yield from _expressions(getattr(value, field.name))
