"""Servers that share their statements, or have rules for who may do what."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.certificates import certificate_for_loopback
from tests.integration.sql.orders import ORDERS
from tests.sql_process import SqlProcess, lines_of
from tests.waiting import HUNG_AFTER_S
from websockets.exceptions import ConnectionClosedError, InvalidStatus

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.broker_process import BrokerProcess


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
