"""Types: which ones mix, compare, calculate and convert."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.plan.schemas import types as plan
from headwater.sql.errors import SqlError
from headwater.sql.location import Location
from headwater.sql.parser.parser import parse_type
from headwater.sql.types.arithmetic import arithmetic_type, wider_number
from headwater.sql.types.casting import can_cast, can_coerce
from headwater.sql.types.coercion import Operand, common_type
from headwater.sql.types.comparison import check_comparable
from headwater.sql.types.errors import TypeMismatchError
from headwater.sql.types.named import resolve_type
from headwater.sql.types.plan_types import from_plan, to_plan
from headwater.sql.types.sql_type import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    NULL,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Decimal,
    Map,
    SqlType,
    Struct,
    as_decimal,
    is_number,
)

PRIMITIVES = (BOOLEAN, INTEGER, BIGINT, DOUBLE, STRING, BYTES, TIME, DATE, TIMESTAMP)

decimals = st.integers(1, 38).flatmap(
    lambda precision: st.builds(Decimal, st.just(precision), st.integers(0, precision))
)
sql_types: st.SearchStrategy[SqlType] = st.recursive(
    st.sampled_from(PRIMITIVES) | decimals,
    lambda inner: st.one_of(
        st.builds(Array, inner),
        st.builds(Map, inner, inner),
        st.dictionaries(st.text(min_size=1, max_size=3), inner, max_size=3).map(
            lambda fields: Struct(tuple(fields.items()))
        ),
    ),
    max_leaves=4,
)


def of(text: str, custom: dict[str, SqlType] | None = None) -> SqlType:
    return resolve_type(parse_type(text), custom or {})


@given(sql_types)
def test_a_type_is_read_back_from_its_text(type_: SqlType) -> None:
    assert of(str(type_)) == type_


@given(sql_types)
def test_plans_have_every_type(type_: SqlType) -> None:
    assert from_plan(to_plan(type_)) == type_


def test_what_plans_have_more() -> None:
    assert from_plan(plan.Array(plan.SMALLINT)) == Array(INTEGER)
    with pytest.raises(TypeMismatchError, match="no type for interval"):
        from_plan(plan.INTERVAL)
    with pytest.raises(TypeMismatchError, match="more than 38 digits"):
        to_plan(Decimal(39, 2))


def test_names_of_types() -> None:
    assert of("varchar(string)") == STRING
    assert of("map<int, address>", {"ADDRESS": Struct((("CITY", STRING),))}) == Map(
        INTEGER, Struct((("CITY", STRING),))
    )


@pytest.mark.parametrize(
    ("text", "reason", "column"),
    [
        ("ARRAY<INTEGR>", "there is no type INTEGR; did you mean INTEGER", 7),
        ("DECIMAL", "DECIMAL needs its digits", 1),
        ("DECIMAL(2, 3)", "more digits after the point", 1),
        ("DECIMAL(0, 0)", "at least one digit", 1),
        ("INT(3)", "takes no parameters", 1),
        ("STRUCT<a INT, b MAP<INT, STRUCT<c INT, C INT>>>", "two fields C", 26),
    ],
)
def test_wrong_types_are_refused_at_their_place(text: str, reason: str, column: int) -> None:
    with pytest.raises(SqlError, match=reason) as raised:
        of(text)
    assert raised.value.location == Location(1, column)


@pytest.mark.parametrize(
    ("operator", "left", "right", "result"),
    [
        ("+", INTEGER, INTEGER, INTEGER),
        ("*", INTEGER, BIGINT, BIGINT),
        ("/", BIGINT, DOUBLE, DOUBLE),
        ("+", Decimal(5, 2), DOUBLE, DOUBLE),
        ("+", STRING, STRING, STRING),
        ("+", Decimal(5, 2), Decimal(7, 4), Decimal(8, 4)),
        ("-", Decimal(5, 2), INTEGER, Decimal(13, 2)),
        ("*", Decimal(5, 2), Decimal(3, 1), Decimal(9, 3)),
        ("*", BIGINT, Decimal(3, 1), Decimal(23, 1)),
        ("/", Decimal(5, 2), Decimal(3, 1), Decimal(10, 6)),
        ("/", Decimal(10, 8), Decimal(10, 8), Decimal(29, 19)),
        ("%", Decimal(5, 2), Decimal(3, 1), Decimal(4, 2)),
    ],
)
def test_arithmetic(operator: str, left: SqlType, right: SqlType, result: SqlType) -> None:
    assert arithmetic_type(operator, left, right) == result


@pytest.mark.parametrize(
    ("operator", "left", "right"),
    [("-", STRING, STRING), ("+", BOOLEAN, INTEGER), ("+", DATE, INTEGER), ("+", STRING, INTEGER)],
)
def test_what_cannot_be_calculated(operator: str, left: SqlType, right: SqlType) -> None:
    with pytest.raises(TypeMismatchError, match="cannot be calculated"):
        arithmetic_type(operator, left, right)


@given(decimals, decimals)
def test_a_sum_holds_both_of_its_parts(left: Decimal, right: Decimal) -> None:
    total = arithmetic_type("+", left, right)
    assert can_coerce(left, total)
    assert can_coerce(right, total)
    assert can_coerce(left, wider_number(left, right))
    assert wider_number(left, right) == wider_number(right, left)


def test_numbers_compare_with_numbers_and_texts_with_times() -> None:
    numbers: list[SqlType] = [INTEGER, BIGINT, DOUBLE, Decimal(4, 2)]
    for left, right in itertools.product(numbers, numbers):
        check_comparable("<", left, right)
    for time in (TIME, DATE, TIMESTAMP):
        check_comparable(">=", STRING, time)
    check_comparable("<", DATE, TIMESTAMP)
    check_comparable("<", BYTES, BYTES)
    check_comparable("=", Array(INTEGER), Array(INTEGER))
    check_comparable("IS DISTINCT FROM", NULL, Map(STRING, INTEGER))


@pytest.mark.parametrize(
    ("operator", "left", "right", "reason"),
    [
        ("=", INTEGER, STRING, "INTEGER and STRING cannot be compared"),
        ("=", TIME, DATE, "cannot be compared"),
        ("=", NULL, INTEGER, "IS NULL"),
        ("<", BOOLEAN, BOOLEAN, "has no order"),
        ("<", Array(INTEGER), Array(INTEGER), "has no order"),
        ("=", Array(INTEGER), Array(STRING), "cannot be compared"),
    ],
)
def test_what_cannot_be_compared(operator: str, left: SqlType, right: SqlType, reason: str) -> None:
    with pytest.raises(TypeMismatchError, match=reason):
        check_comparable(operator, left, right)


def test_casts() -> None:
    for source in (*PRIMITIVES, Array(INTEGER), Struct(())):
        assert can_cast(source, STRING) is (source != BYTES)
        assert can_cast(NULL, source)
        assert can_cast(source, source)
    for target in PRIMITIVES:
        assert can_cast(STRING, target) is (target != BYTES)
    assert can_cast(TIMESTAMP, DATE)
    assert can_cast(DATE, TIMESTAMP)
    assert not can_cast(DATE, TIME)
    assert not can_cast(BOOLEAN, INTEGER)
    assert not can_cast(STRING, Array(INTEGER))
    assert can_cast(Array(STRING), Array(INTEGER))
    assert can_cast(Map(STRING, DOUBLE), Map(STRING, INTEGER))
    some = Struct((("A", STRING), ("B", BOOLEAN)))
    assert can_cast(some, Struct((("A", INTEGER), ("C", DATE))))
    assert not can_cast(some, Struct((("B", INTEGER),)))


def test_what_needs_no_cast() -> None:
    assert can_coerce(INTEGER, BIGINT)
    assert can_coerce(BIGINT, Decimal(19, 0))
    assert not can_coerce(BIGINT, Decimal(10, 2))
    assert can_coerce(Decimal(10, 2), DOUBLE)
    assert not can_coerce(DOUBLE, Decimal(10, 2))
    assert not can_coerce(BIGINT, INTEGER)
    assert can_coerce(Array(INTEGER), Array(BIGINT))
    assert can_coerce(Struct((("A", INTEGER),)), Struct((("A", BIGINT), ("B", STRING))))
    assert not can_coerce(STRING, DATE)


@given(sql_types, sql_types)
def test_what_needs_no_cast_can_be_cast(source: SqlType, target: SqlType) -> None:
    assert not can_coerce(source, target) or can_cast(source, target)


def text(value: str) -> Operand:
    return Operand(STRING, value, is_literal=True)


@pytest.mark.parametrize(
    ("operands", "result"),
    [
        ([Operand(NULL), Operand(INTEGER), Operand(BIGINT)], BIGINT),
        ([Operand(INTEGER), text("10")], INTEGER),
        ([Operand(INTEGER), text("10000000000")], BIGINT),
        ([Operand(INTEGER), text("1.25")], Decimal(12, 2)),
        ([Operand(BIGINT), text("3e2")], Decimal(19, 0)),
        ([Operand(STRING), Operand(INTEGER, is_literal=True)], STRING),
        ([Operand(BOOLEAN), text("YeS"), text("f")], BOOLEAN),
        ([Operand(DATE), text("2024-02-29")], DATE),
        ([Operand(TIMESTAMP), text("2024-02-29T10:00:00.000+01:00")], TIMESTAMP),
        ([Operand(TIME), text("10:30:00")], TIME),
        ([Operand(Array(INTEGER)), Operand(Array(BIGINT))], Array(BIGINT)),
        ([Operand(Array(BIGINT)), Operand(Array(STRING), parts=(text("10"),))], Array(BIGINT)),
        (
            [Operand(Map(STRING, INTEGER)), Operand(Map(STRING, DOUBLE))],
            Map(STRING, DOUBLE),
        ),
        (
            [Operand(Struct((("A", INTEGER),))), Operand(Struct((("A", BIGINT), ("B", DATE))))],
            Struct((("A", BIGINT), ("B", DATE))),
        ),
        ([Operand(NULL)], NULL),
    ],
)
def test_several_expressions_have_one_type(operands: list[Operand], result: SqlType) -> None:
    assert common_type(operands) == result


@pytest.mark.parametrize(
    "operands",
    [
        [Operand(INTEGER), text("ten")],
        [Operand(INTEGER), text("NaN")],
        [Operand(INTEGER), Operand(STRING)],
        [Operand(BOOLEAN), text("maybe")],
        [Operand(BOOLEAN), Operand(INTEGER, is_literal=True)],
        [Operand(DATE), text("2024-02-30")],
        [Operand(STRING), Operand(INTEGER)],
        [Operand(Array(BIGINT)), Operand(INTEGER)],
        [Operand(Array(BIGINT)), Operand(Array(STRING), parts=(text("10"), text("x")))],
    ],
)
def test_expressions_without_a_type_in_common(operands: list[Operand]) -> None:
    with pytest.raises(TypeMismatchError):
        common_type(operands)


def test_numbers_are_as_wide_as_ksqldb_takes_them() -> None:
    assert (as_decimal(INTEGER), as_decimal(BIGINT)) == (Decimal(10, 0), Decimal(19, 0))
    assert [type_ for type_ in PRIMITIVES if is_number(type_)] == [INTEGER, BIGINT, DOUBLE]
