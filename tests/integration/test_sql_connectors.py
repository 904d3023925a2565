"""Statements about connectors, answered by a Connect worker whose connectors have nothing to do."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import pytest
from tests.integration.connect_worker import WorkerInThread, open_idle

from headwater.sql.errors import SqlError
from headwater.sql.parser.parser import parse_statement
from headwater.sql.server.connect_cluster import ConnectCluster
from headwater.testing import Broker

if TYPE_CHECKING:
    from collections.abc import Iterator

CREATE = (
    "CREATE SOURCE CONNECTOR {}lines WITH ('connector.class' = 'FileStreamSource',"
    " 'file' = '/tmp/some-lines.txt', topic = 'lines', 'tasks.max' = 1,"
    " 'value.converter' = 'org.apache.kafka.connect.storage.StringConverter');"
)


@pytest.fixture(scope="module")
def worker() -> Iterator[WorkerInThread]:
    with (
        Broker() as broker,
        WorkerInThread(broker.bootstrap_servers, "sql", open_task=open_idle) as worker,
    ):
        yield worker


def test_connectors_are_made_shown_and_dropped(worker: WorkerInThread) -> None:
    cluster = ConnectCluster(worker.url)

    def run(text: str) -> dict[str, Any]:
        statement = cast("Any", parse_statement(text.rstrip(";")))
        return asyncio.run(cluster.run(statement, text.rstrip(";")))

    made = run(CREATE.format(""))
    assert made["@type"] == "connector_info"
    assert made["info"]["name"] == "LINES"
    assert made["info"]["config"]["topic"] == "lines"
    assert made["info"]["config"]["tasks.max"] == "1"
    with pytest.raises(SqlError, match="Connector LINES already exists"):
        run(CREATE.format(""))
    again = run(CREATE.format("IF NOT EXISTS "))
    assert again["@type"] == "warning_entity"
    worker.wait_for_state("LINES", "RUNNING")
    (shown,) = run("SHOW CONNECTORS;")["connectors"]
    assert shown == {
        "name": "LINES", "type": "SOURCE", "className": "FileStreamSource",
        "state": "RUNNING (1/1 tasks RUNNING)",
    }  # fmt: skip
    assert run("SHOW SINK CONNECTORS;")["connectors"] == []
    assert len(run("LIST SOURCE CONNECTORS;")["connectors"]) == 1
    described = run("DESCRIBE CONNECTOR lines;")
    assert described["connectorClass"] == "FileStreamSource"
    assert described["status"]["connector"]["state"] == "RUNNING"
    plugins = run("SHOW CONNECTOR PLUGINS;")["connectorsPlugins"]
    assert {"SOURCE", "SINK"} <= {plugin["type"] for plugin in plugins}
    assert run("DROP CONNECTOR lines;") == {
        "@type": "drop_connector", "statementText": "DROP CONNECTOR lines;",
        "connectorName": "LINES", "warnings": [],
    }  # fmt: skip
    with pytest.raises(SqlError, match="LINES"):
        run("DROP CONNECTOR lines;")
    assert run("DROP CONNECTOR IF EXISTS lines;")["@type"] == "warning_entity"
    with pytest.raises(SqlError, match="LINES"):
        run("DESCRIBE CONNECTOR lines;")
    with pytest.raises(SqlError, match=r"connector\.class|NoSuch"):
        run("CREATE SINK CONNECTOR bad WITH ('connector.class' = 'NoSuch');")
