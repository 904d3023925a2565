"""DEFINE, UNDEFINE and `${name}`."""

from __future__ import annotations

import pytest

from headwater.sql.errors import SqlSyntaxError
from headwater.sql.location import Location
from headwater.sql.parser.parser import parse
from headwater.sql.variables import Variables


def test_statements_after_define_have_the_value() -> None:
    variables = Variables({"topic": "t1"})
    statements = parse(
        "DEFINE name = 'my_stream'; DEFINE quoted = '''a''';"
        "CREATE STREAM ${NAME} WITH (kafka_topic='${topic}', value_format=${quoted});",
        variables,
    )
    *_, last = statements
    assert last.text == "CREATE STREAM my_stream WITH (kafka_topic='t1', value_format='a')"
    assert dict(variables) == {"topic": "t1", "name": "my_stream", "quoted": "'a'"}


def test_two_dollars_stand_for_the_reference_itself() -> None:
    assert Variables({"a": "1"}).substitute("'$${a}' ${a}") == "'${a}' 1"


def test_comments_stay_as_they_are() -> None:
    variables = Variables({"a": "1"})
    text = "SELECT '--${a}', /* ${x} */ ${a} -- ${y}\nFROM `--${a}` -- it's ${z}"
    assert variables.substitute(text) == (
        "SELECT '--1', /* ${x} */ 1 -- ${y}\nFROM `--1` -- it's ${z}"
    )


def test_a_variable_without_a_value_is_refused_at_its_place() -> None:
    with pytest.raises(SqlSyntaxError, match=r"did you mean \$\{format\}") as raised:
        list(parse("SHOW STREAMS;\nSELECT ${fromat} FROM s;", Variables({"format": "x"})))
    assert raised.value.location == Location(2, 8)
    with pytest.raises(SqlSyntaxError, match="DEFINE a ="):
        list(parse("DEFINE a = '1'; UNDEFINE A; SELECT ${a} FROM s;"))


def test_names_are_plain_words() -> None:
    with pytest.raises(SqlSyntaxError, match="no name of a variable"):
        list(parse("DEFINE `a b` = '1';"))
    assert not Variables().undefine("a")
