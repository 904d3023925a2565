"""CREATE OR REPLACE takes what adds to a stream or table, and refuses what would change it."""

from __future__ import annotations

import pytest
from tests.unit.sql.sql_sessions import run, session

from headwater.sql.errors import SqlError

_BEFORE = """
CREATE STREAM s (id STRING KEY, a INT, b STRING) WITH (kafka_topic='s', value_format='JSON');
CREATE TABLE t (id INT PRIMARY KEY, a BIGINT) WITH (kafka_topic='t', value_format='JSON',
  timestamp='a');
CREATE STREAM w (id STRING KEY, a INT)
  WITH (kafka_topic='w', value_format='JSON', window_type='TUMBLING', window_size='1 HOUR');
CREATE STREAM h (a INT, n BYTES HEADER('n')) WITH (kafka_topic='h', value_format='JSON');
CREATE STREAM d (a INT, b INT)
  WITH (kafka_topic='d', value_format='DELIMITED', value_delimiter='|');
CREATE SOURCE STREAM readonly (a INT) WITH (kafka_topic='r', value_format='JSON');
CREATE STREAM copied AS SELECT * FROM s;
CREATE TABLE counted AS SELECT a, COUNT(*) AS n FROM s GROUP BY a;
"""
_JSON = "value_format='JSON'"


@pytest.mark.parametrize(
    "text",
    [
        f"STREAM s (id STRING KEY, a INT, b STRING) WITH (kafka_topic='s', {_JSON})",
        f"STREAM s (id STRING KEY, a INT, b STRING, c INT) WITH (kafka_topic='s', {_JSON})",
        f"STREAM s (a INT, id STRING KEY, b STRING) WITH (kafka_topic='s', {_JSON})",
        f"STREAM s (id STRING KEY, a INT, b STRING, n BYTES HEADER('n')) "
        f"WITH (kafka_topic='s', {_JSON}, partitions=3)",
        f"TABLE t (id INT PRIMARY KEY, a BIGINT, c INT) "
        f"WITH (kafka_topic='t', {_JSON}, timestamp='a')",
        "STREAM w (id STRING KEY, a INT, b INT) WITH (kafka_topic='w', value_format='JSON', "
        "window_type='TUMBLING', window_size='60 MINUTES')",
        "STREAM copied AS SELECT * FROM s WHERE a > 1",
        "STREAM copied AS SELECT id, a, b, a + 1 AS more FROM s",
        f"STREAM brand_new (a INT) WITH (kafka_topic='new', {_JSON})",
    ],
)
def test_what_adds_to_a_source_replaces_it(text: str) -> None:
    analyser = session(_BEFORE)
    (outcome,) = run(analyser, f"CREATE OR REPLACE {text};")
    made = getattr(outcome, "source", None) or getattr(outcome, "sink", None)
    assert made is not None
    assert analyser.metastore.find(made.name) == made


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            f"STREAM s (id STRING KEY, b STRING) WITH (kafka_topic='s', {_JSON})",
            "has schema = `ID` STRING KEY, `A` INTEGER, `B` STRING which is not upgradeable to "
            "`ID` STRING KEY, `B` STRING. (The following columns are changed, missing or "
            "reordered: [`A` INTEGER, `B` STRING])",
        ),
        (
            f"STREAM s (id STRING KEY, a INT) WITH (kafka_topic='s', {_JSON})",
            "(The following columns are changed, missing or reordered: [`B` STRING])",
        ),
        (
            f"STREAM s (id STRING KEY, a BIGINT, b STRING) WITH (kafka_topic='s', {_JSON})",
            "(The following columns are changed, missing or reordered: [`A` INTEGER])",
        ),
        (
            f"STREAM s (id STRING KEY, b STRING, a INT) WITH (kafka_topic='s', {_JSON})",
            "missing or reordered: [`A` INTEGER, `B` STRING])",
        ),
        (
            f"STREAM s (id INT KEY, a INT, b STRING) WITH (kafka_topic='s', {_JSON})",
            "(Key columns must be identical. The following key columns are changed, missing or "
            "reordered: [`ID` STRING KEY])",
        ),
        (
            f"STREAM s (a INT, b STRING) WITH (kafka_topic='s', {_JSON})",
            "(Key columns must be identical.",
        ),
        (
            f"TABLE s (id STRING PRIMARY KEY, a INT, b STRING) WITH (kafka_topic='s', {_JSON})",
            "has type = KSTREAM which is not upgradeable to KTABLE",
        ),
        (
            f"STREAM t (id INT KEY, a BIGINT) WITH (kafka_topic='t', {_JSON}, timestamp='a')",
            "has type = KTABLE which is not upgradeable to KSTREAM",
        ),
        (
            f"STREAM s (id STRING KEY, a INT, b STRING) WITH (kafka_topic='other', {_JSON})",
            "kafkaTopicName='s', keyFormat=KAFKA, valueFormat=JSON} which is not upgradeable to "
            "KsqlTopic{kafkaTopicName='other', keyFormat=KAFKA, valueFormat=JSON}",
        ),
        (
            "STREAM s (id STRING KEY, a INT, b STRING) WITH (kafka_topic='s', format='JSON')",
            "keyFormat=JSON",
        ),
        (
            "STREAM s (id STRING KEY, a INT, b STRING) "
            "WITH (kafka_topic='s', value_format='DELIMITED')",
            "valueFormat=DELIMITED",
        ),
        (
            "STREAM d (a INT, b INT) WITH (kafka_topic='d', value_format='DELIMITED')",
            "valueFormat=DELIMITED(",
        ),
        (
            "STREAM w (id STRING KEY, a INT) WITH (kafka_topic='w', value_format='JSON', "
            "window_type='TUMBLING', window_size='2 HOURS')",
            "windows=TUMBLING of 7200000 ms",
        ),
        (
            f"STREAM w (id STRING KEY, a INT) WITH (kafka_topic='w', {_JSON})",
            "windows=TUMBLING of 3600000 ms",
        ),
        (
            f"TABLE t (id INT PRIMARY KEY, a BIGINT) WITH (kafka_topic='t', {_JSON})",
            "has timestampColumn = `A` which is not upgradeable to none",
        ),
        (
            f"STREAM h (a INT, n BYTES HEADER('other')) WITH (kafka_topic='h', {_JSON})",
            "missing or reordered: [`N` BYTES HEADER('n')])",
        ),
        (
            f"STREAM readonly (a INT) WITH (kafka_topic='r', {_JSON})",
            "Cannot add stream 'READONLY': CREATE OR REPLACE is not supported on source streams.",
        ),
        ("STREAM copied AS SELECT id, a FROM s", "missing or reordered: [`B` STRING])"),
        ("STREAM copied AS SELECT * FROM s PARTITION BY a", "[`ID` STRING KEY])"),
        ("STREAM copied WITH (kafka_topic='x') AS SELECT * FROM s", "kafkaTopicName='x'"),
        (
            "TABLE counted AS SELECT b, COUNT(*) AS n FROM s GROUP BY b",
            "Key columns must be identical.",
        ),
    ],
)
def test_what_would_change_a_source_is_refused(text: str, reason: str) -> None:
    analyser = session(_BEFORE)
    before = dict(analyser.metastore.sources)
    with pytest.raises(SqlError) as refused:
        run(analyser, f"CREATE OR REPLACE {text};")
    assert reason in refused.value.reason
    assert refused.value.reason.startswith(("Cannot upgrade data source: DataSource '`", "Cannot"))
    assert analyser.metastore.sources == before


def test_every_change_is_named_at_once() -> None:
    with pytest.raises(SqlError) as refused:
        run(
            session(_BEFORE),
            "CREATE OR REPLACE TABLE s (id INT PRIMARY KEY) WITH (kafka_topic='x', format='JSON');",
        )
    issues = refused.value.reason.split("\n\tAND ")
    assert [issue.partition(" has ")[2].partition(" = ")[0] for issue in issues] == [
        "type", "topic", "schema",
    ]  # fmt: skip
