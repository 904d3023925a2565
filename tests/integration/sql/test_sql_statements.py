"""Statements, by HTTP: what they answer, what is refused, and what a server tells of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confluent_kafka import Consumer
from tests.integration.sql.orders import ORDERS
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.sql_process import SqlProcess


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
    assert {
        "type": "TABLE", "name": "ITEMS", "topic": "items", "keyFormat": "KAFKA",
        "valueFormat": "JSON", "isWindowed": False,
    } in tables["tables"]  # fmt: skip
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


def test_topics_are_shown_with_who_reads_them(server: SqlProcess) -> None:
    server.run(ORDERS.replace("orders", "read"))
    readers = []
    try:
        for group in ("one", "one", "other"):
            consumer = Consumer(
                {"bootstrap.servers": server.bootstrap_servers, "group.id": f"read-by-{group}"}
            )
            readers.append(consumer)
            consumer.subscribe(["read"])
        wait_for(lambda: _counts(server, readers) == (4, 2), "all partitions to have a reader")
        assert server.run("SHOW TOPICS;")[0]["@type"] == "kafka_topics"
        everything = server.run("LIST ALL TOPICS EXTENDED;")[0]["topics"]
        assert any(topic["name"].startswith("_confluent-ksql-") for topic in everything)
    finally:
        for consumer in readers:
            consumer.close()
    wait_for(lambda: _counts(server, []) == (0, 0), "nobody to read any more")


def _counts(server: SqlProcess, readers: list[Consumer]) -> tuple[int, int]:
    """How many partitions are read, in how many groups; readers take part while they are polled."""
    for consumer in readers:
        consumer.poll(0.01)
    (listed,) = server.run("SHOW TOPICS EXTENDED;")
    assert listed["@type"] == "kafka_topics_extended"
    (topic,) = [topic for topic in listed["topics"] if topic["name"] == "read"]
    assert topic["replicaInfo"] == [1, 1]
    return topic["consumerCount"], topic["consumerGroupCount"]


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
