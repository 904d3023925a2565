"""Queries by HTTP, as far as they need no Spark: rows as they come, and what there is."""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.sql_process import EARLIEST, lines_of
from tests.waiting import HUNG_AFTER_S, wait_for
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.sync.client import connect

from headwater.clients import ClusterAccess
from headwater.sql.server.queries.topic_reading import TopicReading

if TYPE_CHECKING:
    from tests.sql_process import SqlProcess


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
        assert header["queryId"] in _pushes(server)
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


def test_a_query_ends_when_its_client_has_left_though_no_rows_come(server: SqlProcess) -> None:
    server.run(
        "CREATE STREAM silent (id STRING KEY, n INT) "
        "WITH (kafka_topic='silent', value_format='JSON', partitions=1);"
    )
    text = "SELECT * FROM silent EMIT CHANGES;"
    for http2 in (False, True):
        with server.client(http2=http2) as client, server.stream(client, text) as response:
            lines = lines_of(response)
            query_id = next(lines)["queryId"]
            assert query_id in _pushes(server)
        wait_for(lambda id_=query_id: id_ not in _pushes(server))  # type: ignore[misc]
    assert server.select(f"{text[:-1]} LIMIT 0;") == []
    wait_for(lambda: not _pushes(server), "the query to end that nobody took rows from")


def test_a_topic_that_nobody_waits_for_any_more_is_not_read(server: SqlProcess) -> None:
    reading: TopicReading

    async def leave() -> None:
        nonlocal reading
        access = ClusterAccess.of({"bootstrap.servers": server.bootstrap_servers})
        reading = TopicReading(access, "orders", from_beginning=True)
        opening = asyncio.create_task(reading.open())
        await asyncio.sleep(0)  # it has begun
        opening.cancel()
        await asyncio.wait([opening])
        assert opening.cancelled()

    asyncio.run(leave())
    wait_for(lambda: _is_closed(reading), "what was opened to be closed")


def _is_closed(reading: TopicReading) -> bool:
    if reading._consumer is None:
        return False
    try:
        reading._consumer.assignment()
    except RuntimeError:
        return True
    return False


def _pushes(server: SqlProcess) -> list[str]:
    queries = server.run("SHOW QUERIES;")[0]["queries"]
    return [query["id"] for query in queries if query["queryType"] == "PUSH"]
