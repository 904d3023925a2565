"""The engine: what commands amount to, tried, run and run again after a restart."""

from __future__ import annotations

import pytest

from headwater.sql.errors import SqlError
from headwater.sql.parser.parser import parse, parse_statement
from headwater.sql.server.commands.command import Command, CommandId
from headwater.sql.server.commands.command_log import CommandLog, command_topic
from headwater.sql.server.engine import Done, Engine
from headwater.topic_state.errors import InvalidRecordError
from headwater.topic_state.log import Record

ORDERS = (
    "CREATE STREAM orders (id STRING KEY, amount INT) "
    "WITH (kafka_topic='orders', value_format='JSON');"
)


def run(engine: Engine, text: str) -> list[Done]:
    return [
        engine.change(parsed.statement, parsed.text, {}, number)
        for number, parsed in enumerate(parse(text))
    ]


def test_statements_make_and_unmake_what_there_is() -> None:
    engine = Engine()
    done = run(
        engine,
        ORDERS + "CREATE STREAM big AS SELECT * FROM orders WHERE amount > 3;"
        "CREATE TABLE counts AS SELECT id, COUNT(*) AS n FROM orders GROUP BY id;"
        "INSERT INTO big SELECT * FROM orders;"
        "CREATE TYPE address AS STRUCT<city STRING>;",
    )
    assert [each.message for each in done] == [
        "Stream created",
        "Created query with ID CSAS_BIG_1",
        "Created query with ID CTAS_COUNTS_2",
        "Created query with ID INSERTQUERY_3",
        "Registered custom type with name 'ADDRESS' and SQL type STRUCT<`CITY` STRING>",
    ]
    assert {query.id for query in engine.readers("ORDERS")} == set(engine.queries)
    with pytest.raises(SqlError, match="read from this source: \\[BIG, COUNTS\\]"):
        run(engine, "DROP STREAM orders;")
    with pytest.raises(SqlError, match="write into this source: \\[INSERTQUERY_3\\]"):
        run(engine, "DROP STREAM big;")
    run(engine, "PAUSE ctas_counts_2;")
    assert engine.queries["CTAS_COUNTS_2"].is_paused
    run(engine, "RESUME ALL; TERMINATE INSERTQUERY_3; DROP STREAM big; DROP TABLE counts;")
    assert engine.queries == {}, "a query that filled what was dropped went with it"
    run(engine, "DROP STREAM orders; DROP TYPE address;")
    assert not engine.metastore.sources
    assert not engine.metastore.types


def test_what_is_tried_changes_nothing() -> None:
    engine = Engine()
    run(engine, ORDERS)
    trial = engine.sandbox()
    run(trial, "CREATE STREAM big AS SELECT * FROM orders; DROP STREAM big; DROP STREAM orders;")
    assert set(engine.metastore.sources) == {"ORDERS"}
    assert not trial.metastore.sources


def test_a_replaced_query_keeps_its_id() -> None:
    engine = Engine()
    run(engine, ORDERS + "CREATE STREAM big AS SELECT * FROM orders WHERE amount > 3;")
    before = engine.queries["CSAS_BIG_1"]
    text = "CREATE OR REPLACE STREAM big AS SELECT * FROM orders WHERE amount > 4"
    done = engine.change(parse_statement(text), text, {}, 7)
    assert done.query_id == "CSAS_BIG_1"
    assert engine.queries["CSAS_BIG_1"].version != before.version, "its job is another one"


def test_what_a_query_makes_has_the_query_s_columns_and_is_not_altered() -> None:
    engine = Engine()
    run(
        engine,
        ORDERS + "CREATE STREAM filled (id STRING KEY, amount INT) "
        "WITH (kafka_topic='filled', value_format='JSON', partitions=1);"
        "CREATE STREAM big AS SELECT * FROM orders; INSERT INTO filled SELECT id, amount FROM big;",
    )
    before = engine.metastore.find("BIG")
    with pytest.raises(SqlError, match=r"not supported for CREATE \.\.\. AS statements"):
        run(engine, "ALTER STREAM big ADD COLUMN more INT;")
    assert engine.metastore.find("BIG") == before
    run(engine, "ALTER STREAM filled ADD COLUMN more INT;")


def test_what_is_there_already_is_a_warning() -> None:
    engine = Engine()
    run(engine, ORDERS)
    (done,) = run(engine, ORDERS.replace("STREAM", "STREAM IF NOT EXISTS"))
    assert done.is_warning


def test_commands_are_read_as_they_are_written() -> None:
    statement = parse_statement(ORDERS.rstrip(";"))
    command = Command(CommandId.of(statement), "CREATE ...", {"auto.offset.reset": "earliest"})
    assert command.id.key() == b'"stream/`ORDERS`/create"'
    assert Command.from_record(command.id.key(), command.value()) == command
    for key, value in ((b"x", b"{}"), (b'"x"', b"{}"), (b'"a/b/c"', b"{}"), (b'"a/b/c"', b"[")):
        with pytest.raises(InvalidRecordError):
            Command.from_record(key, value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DROP TABLE t", "table/`T`/drop"),
        ("TERMINATE CSAS_X_1", "terminate/CSAS_X_1/execute"),
        ("TERMINATE ALL", "terminate/ALL/execute"),
        ("PAUSE CSAS_X_1", "pause/CSAS_X_1/execute"),
        ("CREATE TYPE a AS INT", "type/A/create"),
        ("ALTER STREAM s ADD COLUMN x INT", "stream/`S`/alter"),
    ],
)
def test_commands_have_ksqldb_s_ids(text: str, expected: str) -> None:
    id_ = CommandId.of(parse_statement(text))
    assert str(id_) == expected
    assert CommandId.from_key(id_.key()) == id_


def test_every_server_comes_to_the_same_from_the_topic() -> None:
    assert command_topic("default_") == "_confluent-ksql-default__command_topic"
    engines = [Engine(), Engine()]
    texts = [
        ORDERS.rstrip(";"),
        "CREATE STREAM big AS SELECT * FROM nothing",
        "CREATE STREAM big AS SELECT * FROM orders",
    ]
    for engine in engines:
        log = CommandLog(engine)
        for offset, text in enumerate(texts):
            command = Command(CommandId.of(parse_statement(text)), text)
            record = Record(offset, 0, command.id.key(), command.value(), None)
            log.apply(log.decode(record), record, None)
        assert log.decode(Record(9, 0, log.claim_key, None, None)) is None
        assert log.last is not None
        assert log.last[0] == 2
    assert list(engines[0].queries) == list(engines[1].queries) == ["CSAS_BIG_2"]
    assert engines[0].statuses["stream/`BIG`/create"].status == "SUCCESS"
