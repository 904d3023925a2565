"""Errors that say what was expected and point at the place."""

from __future__ import annotations

import pytest

from headwater.sql.errors import SqlSyntaxError
from headwater.sql.location import Location
from headwater.sql.parser.parser import parse


def error(text: str) -> SqlSyntaxError:
    with pytest.raises(SqlSyntaxError) as raised:
        list(parse(text))
    return raised.value


def test_the_line_is_shown_with_a_caret() -> None:
    assert str(error("SHOW STREAMS;\nSELECT *\n\tFORM x;")) == (
        "line 3, column 2: 'FORM' is unexpected; expected FROM or ','. Did you mean FROM?\n"
        "  \tFORM x;\n"
        "  \t^"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELCT 1;", "'SELCT' is unexpected; expected a statement. Did you mean SELECT?"),
        ("SHOW STREAM;", ". Did you mean STREAMS?"),
        ("SELECT * FROM x WHERE a = ;", "the statement ends here; expected an expression"),
        ("SELECT SUM(a b) FROM x;", "'b' is unexpected; expected an operator, ')' or ','"),
        ("SET 'a' 'b';", "\"'b'\" is unexpected; expected '='"),
        ("SELECT * FROM a JOIN b WITHIN 1 EON ON a=b;", "expected a unit of time"),
        ("CREATE STREAM table (a INT);", "to use it as a name, write `table`"),
        ("SELECT * FROM x EMIT CHANGE;", "expected CHANGES or FINAL. Did you mean CHANGES?"),
        ("SELECT 'abc FROM x;", "its closing ' is missing"),
        ("SELECT a$ FROM x;", "'$' has no meaning here"),
        ("SELECT * FROM x", "put a ; after it"),
        ("SELECT f(a.b => 1) FROM x;", "a lambda's parameters are names"),
        ("SELECT a LIKE 'b' ESCAPE 'cd' FROM x;", "ESCAPE takes one letter"),
        ("SELECT * FROM x GROUP BY ();", "GROUP BY needs at least one expression"),
        ("SELECT 9223372036854775808 FROM x;", "more than a BIGINT holds"),
        ("SELECT 1e999 FROM x;", "more than a DOUBLE holds"),
    ],
)
def test_reasons_are_in_words(text: str, reason: str) -> None:
    assert reason in error(text).reason


def test_places_are_those_of_the_whole_text() -> None:
    assert error("SHOW STREAMS; SHOW\nNOTHING;").location == Location(2, 1)
    assert error("SHOW STREAMS;   SHOW NOTHING;").location == Location(1, 22)


def test_statements_before_a_wrong_one_are_read() -> None:
    statements = parse("SHOW STREAMS; SHOW NOTHING;")
    next(statements)
    with pytest.raises(SqlSyntaxError):
        next(statements)
