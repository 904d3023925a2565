"""The SQL server with Spark: the page about it, and queries that go on after a kill."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest
from tests.docs_page import ROOT, commands, run_command
from tests.sql_process import EARLIEST, SqlProcess
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.broker_process import BrokerProcess

PAGE = ROOT / "docs/sql.md"


@pytest.fixture(scope="module")
def server(broker: BrokerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlProcess]:
    state = tmp_path_factory.mktemp("sql")
    process = SqlProcess(broker.bootstrap_servers, state, ["--spark", "ui.enabled=false"]).start()
    yield process
    process.stop()


def test_examples_of_the_page(
    server: SqlProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_SQL_URL", server.url)
    examples = commands(PAGE)
    assert len(examples) == 17
    for command in examples:
        if shlex.split(command.line)[:3] == ["headwater", "sql", "server"]:
            continue  # it runs already, on another port
        line = command.line.replace("http://localhost:8088", server.url)
        run_command(command._replace(line=line), server.bootstrap_servers, tmp_path)


def test_windows_joins_and_groups_reach_the_client(server: SqlProcess) -> None:
    server.run(
        "CREATE STREAM clicks (user_id STRING KEY, page STRING, n INT) "
        "WITH (kafka_topic='clicks', value_format='JSON', partitions=1);"
        "CREATE TABLE users (user_id STRING PRIMARY KEY, level STRING) "
        "WITH (kafka_topic='users', value_format='JSON', partitions=1);"
        "INSERT INTO users (ROWTIME, user_id, level) VALUES (1000, 'ann', 'Platinum');"
        "INSERT INTO clicks (ROWTIME, user_id, page, n) VALUES (2000, 'ann', '/a', 1);"
        "INSERT INTO clicks (ROWTIME, user_id, page, n) VALUES (61000, 'ann', '/b', 2);"
        "INSERT INTO clicks (ROWTIME, user_id, page, n) VALUES (62000, 'bob', '/b', 4);"
    )
    windows = server.select(
        "SELECT user_id, WINDOWSTART, SUM(n) AS total FROM clicks "
        "WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY user_id EMIT CHANGES LIMIT 3;",
        **EARLIEST,
    )
    assert sorted(windows) == [["ann", 0, 1], ["ann", 60000, 2], ["bob", 60000, 4]]
    joined = server.select(
        "SELECT c.page AS page, u.level FROM clicks c LEFT JOIN users u "
        "ON c.user_id = u.user_id WHERE u.level = 'Platinum' EMIT CHANGES LIMIT 2;",
        **EARLIEST,
    )
    assert sorted(joined) == [["/a", "Platinum"], ["/b", "Platinum"]]
    grouped = server.select(
        "SELECT COUNT(*) AS n FROM clicks GROUP BY page EMIT CHANGES LIMIT 3;", **EARLIEST
    )
    assert sorted(grouped) == [[1], [1], [2]], "the key need not be selected"

    def transient() -> list[str]:
        listed = server.run("SHOW ALL TOPICS;")[0]["topics"]
        return [each["name"] for each in listed if "transient_" in each["name"]]

    wait_for(lambda: transient() == [], "the topics of push queries go with them")


def test_queries_go_on_after_a_kill(server: SqlProcess) -> None:
    server.run(
        "CREATE STREAM numbers (k STRING KEY, n INT) "
        "WITH (kafka_topic='numbers', value_format='JSON', partitions=1);"
        "CREATE TYPE kept AS STRUCT<x INT>;"
        "INSERT INTO numbers VALUES ('before', 1);"
    )
    created = server.run(
        "CREATE TABLE sums AS SELECT k, SUM(n) AS total FROM numbers GROUP BY k;"
        "CREATE TABLE by_minute AS SELECT k, COUNT(*) AS c FROM numbers "
        "WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY k;"
        "CREATE STREAM paused AS SELECT * FROM numbers;"
    )
    ids = [each["commandStatus"]["queryId"] for each in created]
    server.run(f"PAUSE {ids[2]};")
    server.run("INSERT INTO numbers (ROWTIME, k, n) VALUES (60000, 'a', 1);")
    wait_for(lambda: server.select("SELECT total FROM sums WHERE k = 'a';") == [[1]])
    server.kill()
    server.start()
    server.run("INSERT INTO numbers (ROWTIME, k, n) VALUES (60001, 'a', 2);")
    wait_for(lambda: server.select("SELECT total FROM sums WHERE k = 'a';") == [[3]])
    assert server.select("SELECT * FROM sums;") == [["a", 3]], "latest is when it was made"
    wait_for(
        lambda: (
            server.select("SELECT * FROM by_minute WHERE k = 'a' AND WINDOWSTART >= 60000;")
            == [["a", 60000, 120000, 2]]
        )
    )
    states = {each["id"]: each["state"] for each in server.run("SHOW QUERIES;")[0]["queries"]}
    assert [states[id_] for id_ in ids] == ["RUNNING", "RUNNING", "PAUSED"]
    assert "KEPT" in server.run("SHOW TYPES;")[0]["types"]
    assert server.select("SELECT * FROM paused;") == []
    server.run(f"RESUME {ids[2]};")
    rows = server.select("SELECT n FROM paused EMIT CHANGES LIMIT 2;", **EARLIEST)
    assert rows == [[1], [2]]
    explained = server.run(f"EXPLAIN {ids[0]};")[0]["queryDescription"]
    assert explained["sinks"] == ["SUMS"]
    assert "KSTREAM-AGGREGATE" in explained["topology"]
    server.run(f"TERMINATE {ids[1]}; DROP TABLE by_minute; DROP TABLE sums DELETE TOPIC;")
    topics = [each["name"] for each in server.run("SHOW TOPICS;")[0]["topics"]]
    assert "SUMS" not in topics
    assert "BY_MINUTE" in topics
