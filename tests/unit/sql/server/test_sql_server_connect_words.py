"""Types out of JSON Schemas that Connect has written."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.sql.server.topics.connect_words import with_connect_words
from headwater.sql.types import sql_type as sql

_DATA = "org.apache.kafka.connect.data."


@pytest.mark.parametrize(
    ("found", "schema", "expected"),
    [
        (sql.BIGINT, {"type": "integer", "connect.type": "int32"}, sql.INTEGER),
        (sql.BIGINT, {"type": "integer", "connect.type": "int64"}, sql.BIGINT),
        (sql.BIGINT, {"type": "integer", "title": f"{_DATA}Date"}, sql.DATE),
        (sql.BIGINT, {"type": "integer", "title": f"{_DATA}Timestamp"}, sql.TIMESTAMP),
        (
            sql.DOUBLE,
            {
                "type": "number",
                "title": f"{_DATA}Decimal",
                "connect.parameters": {"scale": "2", "connect.decimal.precision": "4"},
            },
            sql.Decimal(4, 2),
        ),
        (sql.DOUBLE, {"type": "number", "title": f"{_DATA}Decimal"}, sql.Decimal(38, 0)),
        (
            sql.DOUBLE,
            {
                "type": "number",
                "title": f"{_DATA}Decimal",
                "connect.parameters": {"scale": "two"},
            },
            sql.DOUBLE,
        ),
        (sql.BIGINT, {"type": "integer"}, sql.BIGINT),
        (sql.STRING, True, sql.STRING),
    ],
)
def test_words_of_connect_say_more_than_json_s(
    found: sql.SqlType, schema: Any, expected: sql.SqlType
) -> None:
    assert with_connect_words(found, schema) == expected
    optional = {"oneOf": [{"type": "null"}, schema]}
    nested = {
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": optional},
            "m": {"type": "object", "additionalProperties": optional},
        },
    }
    given = sql.Struct((("a", sql.Array(found)), ("m", sql.Map(sql.STRING, found))))
    assert with_connect_words(given, nested) == sql.Struct(
        (("a", sql.Array(expected)), ("m", sql.Map(sql.STRING, expected)))
    )
