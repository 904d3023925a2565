"""The program that judges a folder of query validation tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.ksql.cases import read_cases
from tests.ksql.judgement import Outcome, judge

if TYPE_CHECKING:
    from pathlib import Path

_FILE = """
{
  // a comment, as in "the real files"
  "tests": [
    {"name": "both", "format": ["JSON", "AVRO"],
     "statements": ["CREATE STREAM a WITH (kafka_topic='//t', value_format='{FORMAT}');"]},
    {"name": "refused", "statements": ["SHOW STREAMS;", "SELECT FROM;"],
     "expectedException": {"type": "x"}},
    {"name": "off", "enabled": false, "statements": ["nonsense"]},
    {"name": "wrong", "statements": ["SELECT FROM;"]}
  ]
}
"""


def test_statements_are_counted_by_what_became_of_them(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(_FILE)
    (tmp_path / "z.json").write_text("never read")
    cases = list(read_cases(tmp_path, "abc"))
    assert [case.name for case in cases] == ["both - JSON", "both - AVRO", "refused", "wrong"]
    judgement = judge(cases)
    assert judgement.outcomes == {
        Outcome.READ: 3,
        Outcome.REFUSED_AS_EXPECTED: 1,
        Outcome.FAILED: 1,
    }
    assert [failure.case.name for failure in judgement.failures] == ["wrong"]
    assert judgement.share_right == 0.8
