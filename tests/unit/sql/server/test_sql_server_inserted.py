"""INSERT ... VALUES takes what ksqlDB takes, and refuses the rest in its words."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any

import pytest

from headwater.sql.analysis.outcomes import InsertRow
from headwater.sql.errors import SqlError
from headwater.sql.parser.parser import parse_statement
from headwater.sql.server.engine import Engine
from headwater.sql.server.rows.inserted import inserted_values
from headwater.sql.server.rows.inserted_json import inserted_json
from headwater.sql.types import sql_type as types


def inserted(type_: str, value: str) -> Any:
    """What becomes of a value in a column of a type."""
    engine = Engine()
    text = f"CREATE STREAM s (v {type_}) WITH (kafka_topic='s', value_format='JSON')"
    engine.change(parse_statement(text), text, {}, 0)
    outcome = engine.analyse(parse_statement(f"INSERT INTO s (v) VALUES ({value})"), {})
    assert isinstance(outcome, InsertRow)
    return inserted_values(outcome)["V"]


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        ("BOOLEAN", "TRUE", True),
        ("INT", "-7", -7),
        ("INT", "NULL", None),
        ("BIGINT", "7", 7),
        ("BIGINT", "2147483648", 2147483648),
        ("DOUBLE", "7", 7.0),
        ("DOUBLE", "2147483648", 2147483648.0),
        ("DOUBLE", "1.5", 1.5),
        ("DOUBLE", "1.5E0", 1.5),
        ("DECIMAL(4, 2)", "99", decimal.Decimal("99.00")),
        ("DECIMAL(4, 2)", "1.5", decimal.Decimal("1.50")),
        ("DECIMAL(4, 2)", "1.500", decimal.Decimal("1.50")),
        ("DECIMAL(12, 0)", "2147483648", decimal.Decimal(2147483648)),
        ("STRING", "'x'", "x"),
        ("BYTES", "'aGk='", b"hi"),
        ("DATE", "'2026-02'", dt.date(2026, 2, 1)),
        ("TIME", "'23:59:58'", dt.time(23, 59, 58)),
        ("TIMESTAMP", "' 2026 '", dt.datetime(2026, 1, 1, tzinfo=dt.UTC)),
        ("ARRAY<BIGINT>", "ARRAY[1, NULL]", [1, None]),
        ("ARRAY<DECIMAL(3, 1)>", "ARRAY[1, 2]", [decimal.Decimal(1), decimal.Decimal(2)]),
        ("ARRAY<DATE>", "ARRAY['2026']", [dt.date(2026, 1, 1)]),
        ("MAP<STRING, DOUBLE>", "MAP('a' := 1)", {"a": 1.0}),
        ("STRUCT<a BIGINT, b INT>", "STRUCT(a := 1, c := 'x')", {"A": 1, "B": None}),
    ],
)
def test_values_become_what_their_columns_hold(type_: str, value: str, expected: Any) -> None:
    found = inserted(type_, value)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("type_", "value", "got"),
    [
        ("BOOLEAN", "'true'", "STRING(true)"),
        ("BOOLEAN", "1", "INTEGER(1)"),
        ("INTEGER", "'1'", "STRING(1)"),
        ("INTEGER", "1.0", "DECIMAL(1.0)"),
        ("INTEGER", "1E0", "DOUBLE(1.0E0)"),
        ("INTEGER", "2147483648", "BIGINT(2147483648)"),
        ("INTEGER", "true", "BOOLEAN(true)"),
        ("BIGINT", "'1'", "STRING(1)"),
        ("BIGINT", "1.5", "DECIMAL(1.5)"),
        ("BIGINT", "1.5E0", "DOUBLE(1.5E0)"),
        ("DOUBLE", "'1.5'", "STRING(1.5)"),
        ("DECIMAL(4, 2)", "'1.5'", "STRING(1.5)"),
        ("DECIMAL(4, 2)", "1.5E0", "DOUBLE(1.5E0)"),
        ("DECIMAL(4, 2)", "100", "INTEGER(100)"),
        ("DECIMAL(4, 2)", "-100.5", "DECIMAL(-100.5)"),
        ("DECIMAL(4, 2)", "1.255", "DECIMAL(1.255)"),
        ("DECIMAL(4, 2)", "2147483648", "BIGINT(2147483648)"),
        ("STRING", "1", "INTEGER(1)"),
        ("STRING", "1.5", "DECIMAL(1.5)"),
        ("STRING", "false", "BOOLEAN(false)"),
        ("BYTES", "'no base64'", "STRING(no base64)"),
        ("BYTES", "1", "INTEGER(1)"),
        ("DATE", "'2026-02-30'", "STRING(2026-02-30). Date format must be yyyy-mm-dd"),
        ("TIME", "'25:00:00'", "STRING(25:00:00). Time format must be hh:mm:ss[.S]"),
        ("TIMESTAMP", "'soon'",
            "STRING(soon). Timestamp format must be yyyy-mm-ddThh:mm:ss[.S]"),
        ("TIMESTAMP", "1", "INTEGER(1)"),
        ("ARRAY<INTEGER>", "1", "INTEGER(1)"),
        ("ARRAY<INTEGER>", "ARRAY['1']", "ARRAY(ARRAY['1'])"),
        ("ARRAY<DECIMAL(3, 1)>", "ARRAY[1, 100]", "ARRAY([1, 100])"),
        ("MAP<STRING, INTEGER>", "MAP('a' := 1.5)", "MAP(MAP('a' := 1.5))"),
        ("STRUCT<`A` INTEGER>", "STRUCT(a := '1')", "STRUCT(STRUCT(A := '1'))"),
    ],
)  # fmt: skip
def test_what_would_not_be_kept_as_it_is_is_refused(type_: str, value: str, got: str) -> None:
    with pytest.raises(SqlError) as refused:
        inserted(type_, value)
    assert refused.value.reason == (
        f"Failed to insert values into 'S'. Expected type {type_} for field `V` but got {got}"
    )


_DECIMAL = types.Decimal(4, 2)
_PLACE = types.Struct((("CITY", types.STRING), ("ZIP", types.INTEGER)))


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        (types.INTEGER, 7, 7),
        (types.INTEGER, None, None),
        (types.BIGINT, 2**63 - 1, 2**63 - 1),
        (types.DOUBLE, 7, 7.0),
        (types.DOUBLE, 1.5, 1.5),
        (types.BOOLEAN, False, False),
        (types.STRING, "7", "7"),
        (_DECIMAL, 7, decimal.Decimal("7.00")),
        (_DECIMAL, 1.255, decimal.Decimal("1.26")),
        (_DECIMAL, "1.5", decimal.Decimal("1.50")),
        (types.BYTES, "aGk=", b"hi"),
        (types.DATE, "2026-01-02", dt.date(2026, 1, 2)),
        (types.TIMESTAMP, 0, dt.datetime(1970, 1, 1, tzinfo=dt.UTC)),
        (types.Array(types.INTEGER), [1, None], [1, None]),
        (types.Map(types.STRING, types.DOUBLE), {"a": 1}, {"a": 1.0}),
        (_PLACE, {"city": "Ulm", "more": 1}, {"CITY": "Ulm", "ZIP": None}),
    ],
)
def test_json_becomes_what_its_column_holds(
    type_: types.SqlType, value: Any, expected: Any
) -> None:
    found = inserted_json("V", value, type_)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("type_", "value", "given"),
    [
        (types.INTEGER, "7", "STRING"),
        (types.INTEGER, 1.5, "DOUBLE"),
        (types.INTEGER, True, "BOOLEAN"),
        (types.INTEGER, 2**31, "BIGINT"),
        (types.INTEGER, [], "ARRAY"),
        (types.BIGINT, 2**63, "BIGINT"),
        (types.BIGINT, "7", "STRING"),
        (types.DOUBLE, "1.5", "STRING"),
        (types.DOUBLE, False, "BOOLEAN"),
        (types.BOOLEAN, "true", "STRING"),
        (types.BOOLEAN, 1, "INTEGER"),
        (types.STRING, 7, "INTEGER"),
        (types.STRING, {}, "STRUCT"),
        (_DECIMAL, 100, "INTEGER"),
        (_DECIMAL, 2**70, "BIGINT"),
        (_DECIMAL, "100.1", "STRING"),
        (_DECIMAL, "x", "STRING"),
        (_DECIMAL, {}, "STRUCT"),
        (types.BYTES, "no base64", "STRING"),
        (types.BYTES, 7, "INTEGER"),
        (types.DATE, "soon", "STRING"),
        (types.TIMESTAMP, 1.5, "DOUBLE"),
        (types.TIMESTAMP, 2**70, "BIGINT"),
        (types.Array(types.INTEGER), ["7"], "ARRAY"),
        (types.Array(types.INTEGER), 7, "INTEGER"),
        (types.Map(types.STRING, types.DATE), {"a": "soon"}, "STRUCT"),
        (_PLACE, {"zip": "x"}, "STRUCT"),
    ],
)
def test_json_that_its_column_cannot_hold_is_refused(
    type_: types.SqlType, value: Any, given: str
) -> None:
    with pytest.raises(SqlError) as refused:
        inserted_json("V", value, type_)
    assert refused.value.reason == f"Can't coerce a field of type {given} into type {type_}: `V`"
