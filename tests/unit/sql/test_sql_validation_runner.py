"""The program that judges a folder of query validation tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.ksql.cases import Case, read_cases
from tests.ksql.judgement import Outcome, judge_plans, judge_reading, judge_statements

if TYPE_CHECKING:
    from pathlib import Path

_FILE = """
{
  // a comment, as in "the real files"
  "tests": [
    {"name": "both", "format": ["JSON", "AVRO"],
     "statements": ["CREATE STREAM a WITH (kafka_topic='//t', value_format='{FORMAT}');"],
     "post": {"sources": [{"name": "A", "schema": "K INT KEY"}, {"name": "B"}]}},
    {"name": "refused", "statements": ["SHOW STREAMS;", "SELECT FROM;"],
     "expectedException": {"type": "x"}},
    {"name": "off", "enabled": false, "statements": ["nonsense"]},
    {"name": "wrong", "statements": ["SELECT FROM;"]}
  ]
}
"""
_INPUT = (
    "CREATE STREAM input (k INT KEY, v STRUCT<a BIGINT, b STRING>) "
    "WITH (kafka_topic = 'input', value_format = 'JSON');"
)


def test_statements_are_counted_by_what_became_of_them(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(_FILE)
    (tmp_path / "z.json").write_text("never read")
    cases = list(read_cases(tmp_path, "abc"))
    assert [case.name for case in cases] == ["both - JSON", "both - AVRO", "refused", "wrong"]
    assert cases[0].schemas == (("A", "K INT KEY"),)
    judgement = judge_reading(cases)
    assert judgement.outcomes == {
        Outcome.RIGHT: 3,
        Outcome.REFUSED_AS_EXPECTED: 1,
        Outcome.FAILED: 1,
    }
    assert [failure.case.name for failure in judgement.failures] == ["wrong"]


@pytest.mark.parametrize(
    ("query", "outcome", "refused"),
    [
        ("SELECT k, v->a * 2 AS x FROM input", Outcome.RIGHT, False),
        ("SELECT k, v->b AS x FROM input", Outcome.FAILED, False),
        ("SELECT v->a AS x FROM input", Outcome.FAILED, False),
        ("SELECT k, v->a AS x FROM input WHERE k", Outcome.REFUSED_AS_EXPECTED, True),
        ("SELECT k, v->a AS x FROM input", Outcome.NOT_REFUSED, True),
        ("SELECT k, BAD_UDF(v->a) AS x FROM input", Outcome.NOT_JUDGED, False),
    ],
)
def test_cases_are_judged_by_the_schemas_they_expect(
    query: str, outcome: Outcome, refused: bool
) -> None:
    expected = (("OUTPUT", "K INT KEY, X BIGINT"),)
    case = Case("a", "a", (_INPUT, f"CREATE STREAM output AS {query};"), refused, expected)
    assert judge_statements([case]).outcomes == {outcome: 1}


@pytest.mark.parametrize(
    ("query", "outcome"),
    [
        ("SELECT k, v->a AS x FROM input", Outcome.RIGHT),
        ("SELECT k, PARSE_TIME(v->b, 'HH') AS x FROM input", Outcome.NOT_YET),
        ("SELECT k, BAD_UDF(v->a) AS x FROM input", Outcome.NOT_JUDGED),
    ],
)
def test_cases_with_records_are_planned_in_their_formats(query: str, outcome: Outcome) -> None:
    made = f"CREATE STREAM output WITH (value_format = 'AVRO') AS {query};"
    case = Case("a", "a", (_INPUT, made), inputs=({"topic": "input"},))
    assert judge_plans([case, Case("a", "b", (_INPUT,))]).outcomes == {outcome: 1}
