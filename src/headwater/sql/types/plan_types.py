"""Types of the language as types of plans, and back."""

from __future__ import annotations

from typing import assert_never

from headwater.plan.schemas import types as plan
from headwater.sql.types import sql_type as sql
from headwater.sql.types.errors import TypeMismatchError

# Spark counts no further.
_MOST_DIGITS = 38

_TO_PLAN: dict[sql.SqlType, plan.DataType] = {
    sql.NULL: plan.VOID,
    sql.BOOLEAN: plan.BOOLEAN,
    sql.INTEGER: plan.INT,
    sql.BIGINT: plan.BIGINT,
    sql.DOUBLE: plan.DOUBLE,
    sql.STRING: plan.STRING,
    sql.BYTES: plan.BINARY,
    sql.TIME: plan.TIME,
    sql.DATE: plan.DATE,
    sql.TIMESTAMP: plan.TIMESTAMP,
}
_FROM_PLAN: dict[plan.DataType, sql.SqlType] = {
    **{there: here for here, there in _TO_PLAN.items()},
    # What schemas of the registry have and the language has not.
    plan.TINYINT: sql.INTEGER,
    plan.SMALLINT: sql.INTEGER,
    plan.FLOAT: sql.DOUBLE,
    plan.TIMESTAMP_NTZ: sql.TIMESTAMP,
}


def to_plan(type_: sql.SqlType) -> plan.DataType:
    """Return the type that a plan has for it."""
    match type_:
        case sql.Primitive():
            return _TO_PLAN[type_]
        case sql.Decimal(precision, scale):
            if precision > _MOST_DIGITS:
                raise TypeMismatchError(f"{type_} has more than {_MOST_DIGITS} digits: cast it")
            return plan.Decimal(precision, scale)
        case sql.Array(element):
            return plan.Array(to_plan(element))
        case sql.Map(key, value):
            return plan.Map(to_plan(key), to_plan(value))
        case sql.Struct(fields):
            return plan.Struct(tuple(plan.Field(name, to_plan(part)) for name, part in fields))
        case _:
            assert_never(type_)


def from_plan(type_: plan.DataType) -> sql.SqlType:
    """Return the type that the language has for it; refuse one that it has not."""
    match type_:
        case plan.Primitive():
            if type_ not in _FROM_PLAN:
                raise TypeMismatchError(f"SQL has no type for {type_.ddl()}")
            return _FROM_PLAN[type_]
        case plan.Decimal(precision, scale):
            return sql.Decimal(precision, scale)
        case plan.Array(element):
            return sql.Array(from_plan(element))
        case plan.Map(key, value):
            return sql.Map(from_plan(key), from_plan(value))
        case plan.Struct(fields):
            return sql.Struct(tuple((field.name, from_plan(field.type)) for field in fields))
        case _:
            assert_never(type_)
