"""JSON of plain types is read and written by classes of ours, and means what it means to Spark."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it
from tests.effort import often
from tests.spark_session import spark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, Row, SparkSession

__all__ = ["spark"]

RULE = "io.headwater.planning.PlainJson"
TYPE = "id string, n bigint, i int, h smallint, b tinyint, d double, t boolean, `a b` string"
WITH_ASIDE = f"{TYPE}, _corrupt_record string"

_VALUES = {
    "id": r"""null nul nullx "" 1 1.50 true {"a":1} [1,2] "ä€😀" "\u00e4\n\"" "a","id":"b"
        "a","id":null "a","other":"ä" "a", 'a'""",
    "n": f"""0 -0 00 01 -1 +1 1.0 1e3 "1" "" - 1,"n":2 9223372036854775807 -9223372036854775808
        9223372036854775808 {"9" * 18} 1{"0" * 18}""",
    "i": "2147483647 2147483648 -2147483648",
    "h": "-32768 32768",
    "b": "127 128",
    "d": """1 -0 -0.0 0.1 1e400 1. .5 1e 1.5E-7 "NaN" NaN "1.5" 99999999999999999""",
    "t": """true false "true" 1 TRUE truefalse null""",
    "a b": '"c"',
    "ID": '"a"',
    "\\u0069d": '"a"',
    "x": """{"n":1},"n":2 [1,2],"n":2 1.5e3,"n":2 null,"n":2 01,"n":2 "ä","n":2""",
    "_corrupt_record": '"z","n":1',
}
TEXTS = [
    *(f'{{"{name}":{value}}}' for name, values in _VALUES.items() for value in values.split()),
    *("{}", " { } ", "{ }x", "{", "", " ", "null", "[]", "1", '"a"', "nul", "{}{}", "[{}]", "{,}"),
    *(' {\n"id" :\t"a" ,\r"n" : 1 } ', '{"id":"a" "n":1}', "{'id':'a'}", '{id:"a"}', '{"id"}'),
    *(
        '{"id":"a\tb"}',
        '{"id":"\x7f"}',
        '{"n":1 2}',
        '{"n":1} // c',
        '\ufeff{"n":1}',
        '{"n":1}\n{"n":2}',
    ),
]
ROWS = [
    ("a", 1, 2, 3, 4, 1.5, True, "b"),
    (None, None, None, None, None, None, None, None),
    ("", -(2**63), -(2**31), -(2**15), -128, -0.0, False, 'q"uote'),
    ("ä€😀", 2**63 - 1, 2**31 - 1, 2**15 - 1, 127, 1e300, True, "back\\slash"),
    ("\n\t\x01\x7f/", 0, 0, 0, 0, float("nan"), None, "x" * 1000),
    ("a", 10, -10, 99, 100, float("inf"), None, None),
    (None, 1_000_000, 999_999, 0, -1, 1e-7, None, "100.0"),
]


@pytest.mark.parametrize(("type_", "mode"), [(TYPE, "FAILFAST"), (WITH_ASIDE, "PERMISSIVE")])
def test_what_is_read_is_what_spark_reads(spark: SparkSession, type_: str, mode: str) -> None:
    texts = [*TEXTS, *_mutilated(often(150, in_soak=20_000))]
    if mode == "FAILFAST":
        # One that is refused would end the query; whether it is stands in the other mode's column.
        read = _read(spark, texts, WITH_ASIDE, "PERMISSIVE").collect()
        texts = [text for text, (row,) in zip(texts, read, strict=True) if not _is_refused(row)]
        assert len(texts) > len(TEXTS) / 4
    ours, sparks = _both(spark, _read(spark, texts, type_, mode))
    assert [*zip(texts, ours, strict=True)] == [*zip(texts, sparks, strict=True)]


def test_a_text_that_is_refused_fails_the_query_as_ever(spark: SparkSession) -> None:
    for text in ('{"n":"x"}', '{"n":1', '{"n":1.5}'):
        with pytest.raises(Exception, match=r"(?i)malformed"):
            _read(spark, ['{"n":1}', text], TYPE, "FAILFAST").collect()


def test_what_is_written_is_what_spark_writes(spark: SparkSession) -> None:
    rows = spark.createDataFrame(ROWS, TYPE).repartition(1)
    ours, sparks = _both(spark, rows.select(F.to_json(F.struct("*"))))
    assert ours == sparks


def _read(spark: SparkSession, texts: Sequence[str], type_: str, mode: str) -> DataFrame:
    numbered = spark.createDataFrame([*enumerate(texts)], "at int, text string")
    # Not deterministic and behind a shuffle: else Spark would read it while it plans.
    behind = numbered.repartition(1).sortWithinPartitions("at")
    bytes_ = F.col("text").cast("binary").cast("string")
    return behind.select(F.from_json(bytes_, type_, {"mode": mode}))


def _is_refused(row: Row | None) -> bool:
    return row is not None and row["_corrupt_record"] is not None


def _both(spark: SparkSession, frame: DataFrame) -> tuple[list[str], list[str]]:
    """Return what our rule makes of it, and what Spark does by itself; NaN is itself as text."""
    assert "PlainJson" in _plan(frame), "the rule did not see it"
    ours = frame.collect()
    spark.conf.set("spark.sql.optimizer.excludedRules", RULE)
    try:
        anew = frame.select("*")
        assert "PlainJson" not in _plan(anew), "the rule was not left out"
        theirs = anew.collect()
    finally:
        spark.conf.unset("spark.sql.optimizer.excludedRules")
    return [*map(repr, ours)], [*map(repr, theirs)]


def _plan(frame: DataFrame) -> str:
    return str(frame._jdf.queryExecution().optimizedPlan().toString())


def _mutilated(count: int) -> list[str]:
    """Records as they are, with one sign changed, dropped or doubled."""
    chance = random.Random(7)
    found = []
    for _ in range(count):
        whole = {
            "id": chance.choice(["a", "ü", 'b"', ""]),
            "n": chance.randrange(-(10 ** chance.randrange(1, 20)), 10**19),
            "d": chance.choice([chance.random(), chance.randrange(10**6), 1e-9]),
            "t": chance.choice([True, False, None]),
        }
        text = json.dumps(whole, ensure_ascii=False)
        at = chance.randrange(len(text))
        sign = chance.choice(['"', ",", "{", "}", ":", "0", "-", ".", "e", " ", "\\", "x", ""])
        found.append(chance.choice([text, text[:at] + sign + text[at + chance.randrange(2) :]]))
    return found
