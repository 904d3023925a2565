"""The names of operators, told apart from fields that are called `name`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from headwater.plan.errors import PlanError
from headwater.plan.expressions.expressions import Column
from headwater.streams.operands import as_expression

if TYPE_CHECKING:
    from headwater.plan.expressions.scope import Scope

NAMES_THE_OPERATOR = (
    "this names the operator. A field that is called so is given in the first argument, as "
    'struct(name=...), or as {"name": ...} to aggregate; name= can then only be the operator\'s'
)
_COLUMN = re.compile(r"[a-zA-Z_]\w*(\.\w+)*")
_PLAIN = re.compile(r"[\w.-]+")


def check_name(name: str | None, scope: Scope) -> None:
    """Refuse the name of an operator among fields where it can be one: it means something here."""
    if isinstance(name, str) and _means_something(name, scope):
        raise PlanError(f"name={name!r}: {NAMES_THE_OPERATOR}")


def _means_something(name: str, scope: Scope) -> bool:
    is_column = _COLUMN.fullmatch(name) is not None
    if not is_column and _PLAIN.fullmatch(name):
        return False  # such as with-units, which is a subtraction as well
    try:
        (Column(tuple(name.split("."))) if is_column else as_expression(name)).type_in(scope)
    except PlanError:
        return False
    return True
