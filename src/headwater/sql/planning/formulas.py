"""Plan expressions out of Spark SQL texts, with the types of the language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.expressions.formulas import Formula
from headwater.plan.schemas.literals import literal_sql
from headwater.plan.schemas.types import backticked
from headwater.sql.types.plan_types import to_plan

if TYPE_CHECKING:
    from headwater.plan.expressions.expressions import Expression
    from headwater.sql.types.sql_type import SqlType


def formula(template: str, type_: SqlType, *arguments: Expression) -> Formula:
    """Return a text of Spark SQL over arguments (`{0}`, `{1}`), of a type of the language."""
    return Formula(template, arguments, to_plan(type_))


def constant(value: object, type_: SqlType) -> Formula:
    """Return a constant."""
    return Formula(f"CAST({literal(value)} AS {to_plan(type_).ddl()})", (), to_plan(type_))


def literal(value: object) -> str:
    """Return a literal of Spark's, to be put into a formula's text."""
    return _in_template(literal_sql(value))


def field(name: str) -> str:
    """Return the name of a field or of a lambda's parameter, to be put into a formula's text."""
    return _in_template(backticked(name))


def _in_template(text: str) -> str:
    """Return a text in which braces stand for themselves."""
    return text.replace("{", "{{").replace("}", "}}")
