"""The SQL server by HTTP, as far as it needs no Spark: statements, rows, restarts, two servers."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.certificates import certificate_for_loopback
from tests.cli_command import Cli
from tests.registry_process import RegistryProcess
from tests.sql_process import EARLIEST, SqlProcess, lines_of
from tests.terminal import CTRL_C, CTRL_D, ENTER, TAB, TerminalProcess
from tests.waiting import HUNG_AFTER_S, wait_for
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.sync.client import connect

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.broker_process import BrokerProcess

ORDERS = (
    "CREATE STREAM orders (id STRING KEY, item INT, amount INT) "
    "WITH (kafka_topic='orders', value_format='JSON', partitions=2);"
)


@pytest.fixture(scope="module")
def server(broker: BrokerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlProcess]:
    registry = RegistryProcess(broker.bootstrap_servers).start()
    process = SqlProcess(
        broker.bootstrap_servers,
        tmp_path_factory.mktemp("sql"),
        [
            *("--registry", registry.url, "--property", "ksql.connect.url=http://127.0.0.1:9"),
            *("--property", "ksql.logging.processing.stream.auto.create=true"),
            *("--property", "ksql.logging.processing.rows.include=true"),
        ],
        "statements_",
    ).start()
    process.run(ORDERS)
    yield process
    process.stop()
    registry.stop()


def test_statements_answer_with_ksqldb_s_entities(server: SqlProcess) -> None:
    created, *_ = server.run(
        "CREATE TABLE items (item INT PRIMARY KEY, name STRING, at TIMESTAMP) "
        "WITH (kafka_topic='items', value_format='JSON', partitions=1);"
        "CREATE TYPE address AS STRUCT<city STRING, tags ARRAY<STRING>>;"
    )
    assert created["@type"] == "currentStatus"
    assert created["commandId"] == "table/`ITEMS`/create"
    assert created["commandStatus"] == {
        "status": "SUCCESS", "message": "Table created", "queryId": None,
    }  # fmt: skip
    (tables,) = server.run("SHOW TABLES;")
    assert tables["tables"] == [
        {
            "type": "TABLE", "name": "ITEMS", "topic": "items", "keyFormat": "KAFKA",
            "valueFormat": "JSON", "isWindowed": False,
        }
    ]  # fmt: skip
    described = server.run("DESCRIBE items EXTENDED;")[0]["sourceDescription"]
    assert described["fields"][0] == {
        "name": "ITEM",
        "schema": {"type": "INTEGER", "fields": None, "memberSchema": None},
        "type": "KEY",
    }
    assert (described["partitions"], described["extended"]) == (1, True)
    kinds = {
        "SHOW STREAMS;": "streams",
        "SHOW STREAMS EXTENDED;": "source_descriptions",
        "DESCRIBE TABLES;": "source_descriptions",
        "LIST TOPICS;": "kafka_topics",
        "SHOW ALL TOPICS;": "kafka_topics",
        "SHOW QUERIES;": "queries",
        "SHOW FUNCTIONS;": "function_names",
        "DESCRIBE FUNCTION UCASE;": "describe_function",
        "SHOW PROPERTIES;": "properties",
        "SHOW TYPES;": "type_list",
        "SHOW VARIABLES;": "variables",
        "EXPLAIN SELECT item, COUNT(*) FROM orders GROUP BY item EMIT CHANGES;": "queryDescription",
        "ASSERT TOPIC items WITH (PARTITIONS=1);": "assert_topic",
        "ASSERT NOT EXISTS SCHEMA SUBJECT 'items-value';": "assert_schema",
        ORDERS.replace("STREAM", "STREAM IF NOT EXISTS"): "warning_entity",
    }
    answers = server.run(" ".join(kinds))
    assert [answer["@type"] for answer in answers] == list(kinds.values())
    assert "KSTREAM-AGGREGATE" in answers[11]["queryDescription"]["topology"]
    assert server.run("DEFINE kind='STREAMS'; SHOW ${kind};")[0]["@type"] == "streams"
    status = server.request("GET", "/status/table/ITEMS/create").body
    assert status["status"] == "SUCCESS"
    assert server.request("GET", "/status").body["commandStatuses"]["type/ADDRESS/create"]
    assert server.run("DROP TYPE address;")[0]["commandStatus"]["status"] == "SUCCESS"


def test_what_is_refused_says_why_and_leaves_nothing_done(server: SqlProcess) -> None:
    refused = server.refusal(
        "CREATE STREAM fine (x INT) WITH (kafka_topic='fine', value_format='JSON', partitions=1);"
        "CREATE STREAM wrong AS SELECT nope FROM orders;"
    )
    assert (refused["@type"], refused["error_code"]) == ("statement_error", 40001)
    assert "there is no column NOPE" in refused["message"]
    assert refused["statementText"] == "CREATE STREAM wrong AS SELECT nope FROM orders;"
    names = [each["name"] for each in server.run("SHOW STREAMS;")[0]["streams"]]
    assert "FINE" not in names
    topics = [each["name"] for each in server.run("SHOW TOPICS;")[0]["topics"]]
    assert "fine" not in topics
    assert server.refusal("SELECT * FROM orders;")["error_code"] == 40002
    assert server.refusal("SHOW NOTHING;")["error_code"] == 40001
    assert "no Connect worker answers" in server.refusal("SHOW CONNECTORS;")["message"]
    for text, why in {
        "CREATE STREAM x (a INT) WITH (kafka_topic='none', value_format='JSON');": "'PARTITIONS'",
        "CREATE STREAM x (a INT) WITH (kafka_topic='orders', value_format='JSON', partitions=9);":
            "KSQL expects 9 partitions (topic has 2)",
        "CREATE STREAM x WITH (kafka_topic='orders', value_format='AVRO');": "has no columns",
        "ASSERT TOPIC nothing TIMEOUT 10 MILLISECONDS;": "does not exist",
        "SET 'no.such.property' = '1';": "Not recognizable",
        "TERMINATE nothing;": "there is no query",
    }.items():  # fmt: skip
        assert why in server.refusal(text)["message"], text
    wrong = server.request("POST", "/ksql", {"ksql": "SHOW TABLES;", "streamsProperties": {"x": 1}})
    assert (wrong.status, wrong.body["error_code"]) == (400, 40000)


def test_rows_come_as_they_are_inserted(server: SqlProcess) -> None:
    server.run(
        "CREATE STREAM readings (id STRING KEY, value DOUBLE, tags ARRAY<STRING>) "
        "WITH (kafka_topic='readings', value_format='JSON', partitions=1);"
        "INSERT INTO readings VALUES ('a', 1.5, ARRAY['x']);"
    )
    text = "SELECT id, value * 2 AS twice FROM readings WHERE value > 1 EMIT CHANGES;"
    with (
        server.client(http2=True) as client,
        server.stream(client, text) as response,
    ):
        assert response.http_version == "HTTP/2"
        lines = lines_of(response)
        header = next(lines)
        assert header["columnNames"] == ["ID", "TWICE"]
        assert header["columnTypes"] == ["STRING", "DOUBLE"]
        (push,) = [
            query for query in server.run("SHOW QUERIES;")[0]["queries"]
            if query["queryType"] == "PUSH"
        ]  # fmt: skip
        assert push["id"] == header["queryId"]
        rows = [{"id": "b", "VALUE": 0.5}, {"id": "c", "value": 3}, {"id": "d", "nothing": 1}]
        body = "\n".join(json.dumps(each) for each in ({"target": "readings"}, *rows))
        inserted = client.post("/inserts-stream", content=body)
        acks = [json.loads(line) for line in inserted.text.splitlines()]
        assert [(ack["status"], ack["seq"]) for ack in acks] == [("ok", 0), ("ok", 1), ("error", 2)]
        assert "no column nothing" in acks[2]["message"]
        body = '{"target": "readings"}\n{"id": "e", "value": 0.5}\n{"id": "f", "nothing": 1}\n'
        listed = client.post(
            "/inserts-stream", content=body, headers={"accept": "application/json"}
        )
        assert [ack["status"] for ack in listed.json()] == ["ok", "error"]
        assert next(lines) == ["c", 6.0], "latest is where rows begin"
        closed = server.request("POST", "/close-query", {"queryId": header["queryId"]})
        assert closed.status == 200
        assert list(lines) == []
    assert server.select(f"{text[:-1]} LIMIT 2;", **EARLIEST) == [["a", 3.0], ["c", 6.0]]
    read = server.select("SELECT id FROM readings;")
    assert read == [["a"], ["b"], ["c"], ["e"]], "up to now"
    answer = server.request(
        "POST", "/query", {"ksql": "SELECT tags FROM readings EMIT CHANGES LIMIT 1;",
                           "streamsProperties": EARLIEST},
    )  # fmt: skip
    header, row, last = json.loads(answer.raw)
    assert header["header"]["schema"] == "`TAGS` ARRAY<STRING>"
    assert row == {"row": {"columns": [["x"]]}}
    assert last == {"finalMessage": "Limit Reached"}
    with server.client() as client:
        listed = client.post(
            "/query-stream",
            json={"sql": "SELECT id FROM readings LIMIT 1;"},
            headers={"Accept": "application/json"},
        ).json()
    assert listed[1:] == [["a"]]
    printed = server.request("POST", "/query", {"ksql": "PRINT readings FROM BEGINNING LIMIT 1;"})
    assert "Value format: JSON" in printed.raw.decode()
    assert 'key: a, value: {"VALUE":1.5,"TAGS":["x"]}, partition: 0' in printed.raw.decode()
    gone = server.request("POST", "/close-query", {"queryId": "nothing"})
    assert gone.status == 400


def test_queries_and_prints_come_by_websocket(server: SqlProcess) -> None:
    server.run(
        "CREATE STREAM ticks (id STRING KEY, p STRUCT<n INT>) "
        "WITH (kafka_topic='ticks', value_format='JSON', partitions=1);"
        "INSERT INTO ticks VALUES ('a', STRUCT(n := 1));"
    )
    text = "SELECT id, p->n FROM ticks EMIT CHANGES;"
    with server.socket(text, **EARLIEST) as socket:
        id_, number = json.loads(socket.recv(HUNG_AFTER_S))
        assert id_ == {
            "name": "ID", "schema": {"type": "STRING", "fields": None, "memberSchema": None},
        }  # fmt: skip
        assert number["name"] == "N"
        assert json.loads(socket.recv(HUNG_AFTER_S)) == {"row": {"columns": ["a", 1]}}
        server.run("INSERT INTO ticks VALUES ('b', STRUCT(n := 2));")
        assert json.loads(socket.recv(HUNG_AFTER_S)) == {"row": {"columns": ["b", 2]}}
    wait_for(lambda: not _pushes(server), "the query to end, whose client has left")

    for text, count in (
        ("SELECT id FROM ticks EMIT CHANGES LIMIT 2;", 3),
        ("SELECT id FROM ticks;", 3),
        ("PRINT ticks FROM BEGINNING LIMIT 1;", 3),
    ):
        with server.socket(text, **EARLIEST) as socket:
            messages = [json.loads(message) for message in socket]
            assert len(messages) == count, messages
            assert (socket.close_code, socket.close_reason) == (1000, "done")
    assert messages[-1].endswith('key: a, value: {"P":{"N":1}}, partition: 0')

    for text, why in {
        "SELECT nope FROM ticks EMIT CHANGES;": "there is no column NOPE",
        "SHOW STREAMS;": "not supported",
        "SELECT": "expected",
        "": "found 0",
    }.items():
        with server.socket(text) as socket, pytest.raises(ConnectionClosedError, match=why):
            socket.recv(HUNG_AFTER_S)
        assert socket.close_code == 1003, text
    missing = f"ws://127.0.0.1:{server.port}/ws/nothing"
    with pytest.raises(InvalidStatus) as refused:
        connect(missing, proxy=None)
    assert refused.value.response.status_code == 404


def _pushes(server: SqlProcess) -> list[str]:
    queries = server.run("SHOW QUERIES;")[0]["queries"]
    return [query["id"] for query in queries if query["queryType"] == "PUSH"]


def test_the_processing_log_is_a_stream_of_what_could_not_be_read(server: SqlProcess) -> None:
    server.run(
        "CREATE STREAM raw (line STRING) "
        "WITH (kafka_topic='spoilt', value_format='KAFKA', partitions=1);"
        "CREATE STREAM spoilt (n INT) WITH (kafka_topic='spoilt', value_format='JSON');"
        "INSERT INTO raw VALUES ('{rubbish'); INSERT INTO raw VALUES ('{\"n\": 1}');"
    )
    assert server.select("SELECT n FROM spoilt EMIT CHANGES LIMIT 1;", **EARLIEST) == [[1]]
    wait_for(
        lambda: any(
            each["name"] == "KSQL_PROCESSING_LOG"
            for each in server.run("SHOW STREAMS;")[0]["streams"]
        )
    )
    ((logger, level, target, message, data),) = server.select(
        "SELECT logger, level, message->deserializationError->target, "
        "message->deserializationError->errorMessage, message->deserializationError->recordB64 "
        "FROM KSQL_PROCESSING_LOG WHERE message->type = 0 EMIT CHANGES LIMIT 1;",
        **EARLIEST,
    )
    assert logger.startswith("processing.transient_SPOILT_")
    assert (level, target) == ("ERROR", "value")
    assert message.startswith("spoilt [0] at offset 0, value: ")
    assert base64.b64decode(data) == b"{rubbish"


@pytest.mark.needs("curl")
def test_curl_asks_by_http2(server: SqlProcess) -> None:
    asked = subprocess.run(
        [
            *("curl", "-s", "--http2-prior-knowledge", "-w", "%{http_version}"),
            *("-d", '{"sql": "SELECT * FROM orders LIMIT 1;"}', f"{server.url}/query-stream"),
        ],
        capture_output=True,
        text=True,
        timeout=HUNG_AFTER_S,
        check=True,
    )
    header, *_, version = asked.stdout.splitlines()
    assert json.loads(header)["columnNames"] == ["ID", "ITEM", "AMOUNT"]
    assert version == "2"


def test_tables_are_asked_by_key_range_and_scan(server: SqlProcess) -> None:
    values = "".join(f"INSERT INTO parts VALUES ({n}, 'part {n}', {n * 10});" for n in range(-2, 5))
    server.run(
        "CREATE TABLE parts (id INT PRIMARY KEY, name STRING, weight INT) "
        f"WITH (kafka_topic='parts', value_format='JSON', partitions=2); {values}"
    )
    assert server.select("SELECT * FROM parts WHERE id = 3;") == [[3, "part 3", 30]]
    assert server.select("SELECT name FROM parts WHERE id IN (1, 2, 99);") == [
        ["part 1"], ["part 2"],
    ]  # fmt: skip
    assert server.select("SELECT id FROM parts WHERE id < 0 AND weight > -20;") == [[-1]]
    assert server.select("SELECT id FROM parts LIMIT 2;") == [[-2], [-1]], "in their order"
    server.run("INSERT INTO parts VALUES (3, 'other', 1);")
    wait_for(lambda: server.select("SELECT name FROM parts WHERE id = 3;") == [["other"]])
    text = (
        "SELECT INITCAP(name), TRANSFORM(SPLIT(name, ' '), w => MASK(w)) FROM parts WHERE id = 1;"
    )
    assert server.select(text) == [["Part 1", ["xxxx", "n"]]]
    server.run(
        "CREATE TABLE days (day DATE PRIMARY KEY, at TIME) "
        "WITH (kafka_topic='days', format='JSON', partitions=1);"
        "INSERT INTO days VALUES ('2026-02-28', '23:59:58');"
    )
    assert server.select("SELECT * FROM days WHERE day = '2026-02-28';") == [
        ["2026-02-28", "23:59:58"]
    ]
    for text, why in {
        "SELECT ROWTIME FROM parts;": "ROWTIME",
        "SELECT COUNT(*) FROM parts GROUP BY name;": "GROUP BY",
    }.items():
        assert why in server.refusal(text, "/query")["message"]


def test_columns_come_from_the_registry_and_rows_go_through_it(server: SqlProcess) -> None:
    server.run(
        "CREATE STREAM measured (id STRING KEY, value DOUBLE, p STRUCT<unit STRING>) "
        "WITH (kafka_topic='measured', value_format='AVRO', partitions=1);"
        "INSERT INTO measured VALUES ('a', 1.5, STRUCT(unit := 'bar'));"
        "CREATE STREAM inferred (id STRING KEY) "
        "WITH (kafka_topic='measured', value_format='AVRO');"
    )
    rows = server.select("SELECT id, value, p->unit FROM inferred;")
    assert rows == [["a", 1.5, "bar"]]
    statement = server.run("DESCRIBE inferred;")[0]["sourceDescription"]["statement"]
    assert "VALUE DOUBLE" in statement, "it is kept with its columns"


def test_rows_go_through_protobuf_with_a_registry_and_without(server: SqlProcess) -> None:
    columns = "day DATE, at TIME, seen TIMESTAMP, n DECIMAL(4, 2), x DOUBLE, tags ARRAY<STRING>"
    row = ["2026-02-28", "23:59:58", "2026-01-02T03:04:05.006", -2.0, 0.0, ["a"]]
    for format_ in ("PROTOBUF", "PROTOBUF_NOSR"):
        server.run(
            f"CREATE TABLE {format_}_rows (id INT PRIMARY KEY, {columns}) "
            f"WITH (kafka_topic='{format_}', format='{format_}', partitions=1);"
            f"INSERT INTO {format_}_rows VALUES (7, '2026-02-28', '23:59:58', "
            "'2026-01-02T03:04:05.006', -2.00, 0.0, ARRAY['a']);"
            f"INSERT INTO {format_}_rows (id) VALUES (8);"
        )
        assert server.select(f"SELECT * FROM {format_}_rows WHERE id = 7;") == [[7, *row]]
        assert server.select(f"SELECT * FROM {format_}_rows WHERE id = 8;") == [
            [8, None, None, None, None, 0.0, []]
        ]
    (described,) = server.run(
        "CREATE STREAM again WITH (kafka_topic='PROTOBUF', format='PROTOBUF'); DESCRIBE again;"
    )[1:]
    fields = described["sourceDescription"]["fields"]
    assert [(field["name"], field["schema"]["type"]) for field in fields] == [
        ("ID", "INTEGER"), ("DAY", "DATE"), ("AT", "TIME"), ("SEEN", "TIMESTAMP"), ("N", "STRUCT"),
        ("X", "DOUBLE"), ("TAGS", "ARRAY"),
    ]  # fmt: skip


def test_the_server_tells_of_itself(server: SqlProcess) -> None:
    info = server.request("GET", "/info").body["KsqlServerInfo"]
    assert info["ksqlServiceId"] == "statements_"
    assert server.request("GET", "/healthcheck").body["isHealthy"]
    assert server.request("GET", "/is_valid_property/ksql.streams.auto.offset.reset").body is True
    assert server.request("GET", "/is_valid_property/nothing").body["error_code"] == 40000
    clusters = server.request("GET", "/v1/metadata/id").body["scope"]["clusters"]
    assert clusters["kafka-cluster"] == info["kafkaClusterId"]
    assert server.request("GET", "/v1/metadata").body["clusterId"]["scope"]["clusters"] == clusters
    for path in ("/heartbeat", "/lag"):
        assert server.request("POST", path, {}).body == {"isOk": True}
    hosts = server.request("GET", "/clusterStatus").body["clusterStatus"]
    assert list(hosts) == [f"127.0.0.1:{server.port}"]


def test_two_servers_share_what_there_is(broker: BrokerProcess, tmp_path: Path) -> None:
    queries = tmp_path / "statements.sql"
    queries.write_text(
        "CREATE STREAM filed (x INT) WITH (kafka_topic='filed', value_format='JSON', partitions=1);"
    )
    own = certificate_for_loopback(tmp_path)
    options = [
        *("--certificate", str(own.certificate), "--key", str(own.key)),
        *("--property", f"ssl.ca.location={own.certificate}"),
    ]
    first, second = (
        SqlProcess(broker.bootstrap_servers, tmp_path, options, "shared_").start() for _ in range(2)
    )
    first.ca_file = second.ca_file = str(own.certificate)
    made = second.run(ORDERS.replace("orders", "shared"))
    number = made[0]["commandSequenceNumber"]
    for server in (first, second):
        body = {"ksql": "SHOW STREAMS;", "commandSequenceNumber": number}
        (streams,) = server.request("POST", "/ksql", body).body
        assert [each["name"] for each in streams["streams"]] == ["SHARED"]
    leader, other = sorted((first, second), key=lambda each: "leading in epoch" not in each.text)
    leader.kill()
    other.run("DROP STREAM shared DELETE TOPIC;")
    leader.start()
    assert leader.run("SHOW STREAMS;")[0]["streams"] == []
    topics = [each["name"] for each in leader.run("SHOW TOPICS;")[0]["topics"]]
    assert "shared" not in topics
    leader.stop()
    other.stop()
    headless = SqlProcess(
        broker.bootstrap_servers, tmp_path, ["--queries-file", str(queries)], "headless_"
    )
    for _ in range(2):
        headless.start()
        assert len(headless.run("SHOW STREAMS;")[0]["streams"]) == 1
        assert "headless" in headless.refusal("DROP STREAM filed;")["message"]
        headless.stop()


def test_the_shell_is_for_people(server: SqlProcess, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "headwater", "sql", "--url", server.url]
    environment = {**os.environ, "HOME": str(tmp_path)}
    with TerminalProcess(command, environment, columns=61) as terminal:
        terminal.wait_until_shown("Ctrl-D leaves.")
        terminal.press(f"CREATE STREAM typed_rows (id STRING KEY, n INT){ENTER}")
        terminal.press(f"WITH (kafka_topic='typed', value_format='JSON', partitions=1);{ENTER}")
        terminal.wait_until_shown("Stream created")
        terminal.press(f"INSERT INTO typed_rows VALUES ('a', 1);{ENTER}")
        terminal.press(f"SET 'auto.offset.reset' = 'earliest';{ENTER}")
        terminal.wait_until_shown("Successfully changed local property")
        terminal.press(f"SELECT * FROM typed_rows EMIT CHANGES;{ENTER}")
        row = f"|{'a':29}|{1:<29}|"
        screen = terminal.wait_until_shown(row)
        assert f"|{'ID':29}|{'N':29}|" in screen
        terminal.press(CTRL_C)
        terminal.wait_until_shown("Query terminated")
        terminal.press(f"SELEC nothing;{ENTER}")
        terminal.wait_until_shown("line 1, column 1")
        terminal.press("half a statement")
        terminal.wait_until_shown("half a statement")
        terminal.press(CTRL_C)
        # Names are asked for behind the prompt, so that Tab may have to be pressed again.
        terminal.press("SELECT n FROM typed_r")
        terminal.press_until_shown(TAB, "TYPED_ROWS")
        terminal.press(CTRL_C)
        terminal.press(f"SELECT n FROM typed_rows;{ENTER}")
        terminal.wait_until_shown(f"|{1:<59}|")
        terminal.press(f"exit{ENTER}")
        assert terminal.wait() == 0
    with TerminalProcess(command, environment) as terminal:
        terminal.wait_until_shown("Ctrl-D leaves.")
        terminal.press(f"HISTORY{ENTER}")
        terminal.wait_until_shown("SELEC nothing;")
        assert terminal.press_until_ended(CTRL_D) == 0


def test_statements_come_from_a_pipe_and_go_to_programs(server: SqlProcess, tmp_path: Path) -> None:
    cli = Cli(server.bootstrap_servers)
    script, spooled = tmp_path / "piped.sql", tmp_path / "spooled.txt"
    script.write_text("INSERT INTO piped VALUES ('a,b', NULL);\nSHOW VARIABLES;")
    made = (
        f"SPOOL '{spooled}'; DEFINE topic = 'piped';"
        "CREATE STREAM piped (id STRING KEY, n INT)"
        " WITH (kafka_topic='${topic}', value_format='JSON', partitions=1);"
        f"RUN SCRIPT '{script}'; SPOOL OFF; SELECT * FROM piped;"
    )
    out = cli.ok("sql", "--url", server.url, "--output", "csv", stdin=made)
    assert out.splitlines() == [
        "Stream created", "Variable Name,Value", "topic,piped", "ID,N", '"a,b",',
    ]  # fmt: skip
    assert spooled.read_text().splitlines() == out.splitlines()[:3]
    refused = cli("sql", "--url", server.url, "--execute", "SET 'no.such' = '1';")
    assert (refused.code, refused.out) == (1, "")
    assert "no.such" in refused.err


def _only_who_began_a_query_closes_it(server: SqlProcess) -> None:
    users = [("ann", "a"), ("bob", "b")]
    # With a right to all, ann may close bob's; bob may close his own alone.
    for owner, closer, status in ((0, 1, 403), (0, 0, 200), (1, 0, 200), (1, 1, 200)):
        text = "SELECT * FROM open_orders EMIT CHANGES;"
        with server.client() as client:
            client.auth = users[owner]
            with server.stream(client, text) as response:
                _close(server, lines_of(response), users[owner], users[closer], status)
    server.user = users[1]
    assert server.request("POST", "/close-query", {"queryId": "nothing"}).status == 403


def _close(
    server: SqlProcess,
    lines: Iterator[Any],
    owner: tuple[str, str],
    closer: tuple[str, str],
    status: int,
) -> None:
    query = {"queryId": next(lines)["queryId"]}
    server.user = closer
    assert server.request("POST", "/close-query", query).status == status
    server.user = owner
    if status != 200:
        assert server.request("POST", "/close-query", query).status == 200
    assert list(lines) == []


def test_rules_say_who_may_do_what_to_which_streams(broker: BrokerProcess, tmp_path: Path) -> None:
    (tmp_path / "users.txt").write_text("ann: a\nbob: b\n")
    rules = [
        {"principal": "User:ann", "resourceType": "STREAM", "name": "*", "operation": "ADMIN"},
        {"principal": "User:bob", "resourceType": "STREAM", "name": "OPEN_", "operation": "WRITE",
         "patternType": "PREFIXED"},
    ]  # fmt: skip
    (tmp_path / "rules.json").write_text(json.dumps(rules))
    options = [
        *("--property", f"authentication.users.file={tmp_path / 'users.txt'}"),
        *("--property", f"authorization.rules.file={tmp_path / 'rules.json'}"),
    ]
    server = SqlProcess(broker.bootstrap_servers, tmp_path, options, "rules_").start()
    server.user = ("ann", "a")
    for name in ("open_orders", "secret_orders"):
        server.run(ORDERS.replace("orders (", f"{name} (").replace("'orders'", f"'{name}'"))
    server.user = ("bob", "b")
    server.run("INSERT INTO open_orders (id, item, amount) VALUES ('a', 1, 2);")
    server.run("DESCRIBE open_orders; SHOW STREAMS;")
    for statement in (
        "INSERT INTO secret_orders (id, item, amount) VALUES ('a', 1, 2);",
        "DESCRIBE secret_orders;",
        "DROP STREAM open_orders;",
        "CREATE STREAM open_copy AS SELECT * FROM secret_orders;",
        "INSERT INTO open_orders SELECT * FROM secret_orders;",
        "EXPLAIN SELECT * FROM secret_orders EMIT CHANGES;",
        "DESCRIBE open_orders; TERMINATE ALL;",
    ):
        refused = server.request("POST", "/ksql", {"ksql": statement})
        assert (refused.status, refused.body["error_code"]) == (403, 40301), statement
    refused = server.request(
        "POST", "/query-stream", {"sql": "SELECT * FROM secret_orders EMIT CHANGES LIMIT 1;"}
    )
    assert refused.status == 403
    assert refused.body == {
        "@type": "generic_error",
        "error_code": 40301,
        "message": "Forbidden: User:bob has no READ on the stream SECRET_ORDERS",
    }
    assert server.request("POST", "/query", {"ksql": "PRINT 'secret_orders';"}).status == 403
    into = b'{"target": "secret_orders"}\n'
    assert server.request("POST", "/inserts-stream", into).status == 403
    assert server.request("POST", "/ksql/terminate", {}).status == 403
    with (
        server.socket("SELECT * FROM secret_orders;") as socket,
        pytest.raises(ConnectionClosedError, match="User:bob has no READ"),
    ):
        socket.recv(HUNG_AFTER_S)
    assert socket.close_code == 1003
    level = ("PUT", "/admin/loggers/headwater.sql", {"level": "INFO"})
    assert server.request(*level).status == 403
    _only_who_began_a_query_closes_it(server)
    server.user = ("ann", "a")
    assert server.request(*level).status == 200
    server.user = None
    with pytest.raises(InvalidStatus) as stranger:
        server.socket("SELECT * FROM open_orders;")
    assert stranger.value.response.status_code == 401
    assert "Basic" in stranger.value.response.headers["WWW-Authenticate"]
    server.stop()
