"""Connect in the console: forms out of what a plug-in says, and secrets that stay hidden."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from headwater.console.model.connect.connect import Connect, Connector, Task
from headwater.console.model.connect.connector_flow import MOST_TOPICS, ConnectorFlow, outside_of
from headwater.console.model.connect.connector_form import (
    config_in,
    errors_of,
    fields_of,
    readable,
    shown,
    without_hidden,
)
from headwater.console.model.overview import of_connectors

if TYPE_CHECKING:
    from headwater.console.model.json_service import JsonService
    from headwater.console.model.programs.topology import Node


def info(name: str, *errors: str, value: str | None = None, **more: Any) -> dict[str, Any]:
    definition = {"name": name, "type": "STRING", "required": False, "group": "B", **more}
    given = {"name": name, "value": value, "recommended_values": [], "errors": list(errors)}
    return {"definition": definition, "value": {**given, "visible": more.get("visible", True)}}


def test_a_form_has_the_fields_that_can_be_seen_in_their_groups() -> None:
    infos = {
        "groups": ["A", "B"],
        "configs": [
            info("b", "missing"),
            info("name"),
            info("connector.class"),
            info("a", group="A", required=True),
            info("unseen", visible=False),
            info("c", "wrong", value="1", type="PASSWORD"),
        ],
    }
    fields = fields_of(infos)
    assert [each.name for each in fields] == ["a", "b", "c"]
    assert [each.is_required for each in fields] == [True, True, False]
    assert [each.is_main for each in fields] == [True, True, True]
    assert fields[2].is_secret
    assert errors_of(infos) == {"b": ["missing"], "c": ["wrong"]}


def test_a_configuration_is_read_as_it_is_written() -> None:
    config = {"name": "a", "tasks.max": "1"}
    assert config_in(readable(config)) == config
    assert config_in('{"name": "a", "config": {"tasks.max": 1}}') == config
    for wrong, why in (("{", "no JSON"), ("[]", "no JSON object")):
        with pytest.raises(ValueError, match=why):
            config_in(wrong)


def test_secrets_are_neither_shown_nor_lost() -> None:
    config = {"connection.password": "secret", "sasl.jaas.config": "x", "file": "a"}
    hidden = shown(config)
    assert "secret" not in hidden.values()
    assert without_hidden(hidden, config) == config
    assert without_hidden({**hidden, "connection.password": "new"}, config) == {
        **config,
        "connection.password": "new",
    }


def connector(state: str, *tasks: Task, **progress: Any) -> Connector:
    return Connector("a", "sink", "A", state, "w", "", tasks, {}, progress)


def test_a_connector_is_as_well_as_its_tasks() -> None:
    well = connector("RUNNING", Task(0, "RUNNING", "w", ""))
    assert (well.health, well.error, well.running_tasks) == ("RUNNING", "", 1)
    failed = connector("RUNNING", Task(0, "FAILED", "w", "no disk\nat line 1"))
    assert (failed.health, failed.error) == ("FAILED", "no disk")
    assert failed.full_error == "no disk\nat line 1"
    assert connector("RUNNING", stalled=True).health == "STALLED"
    assert connector("RUNNING", last_error="late").error == "late"


def _drawn(connector: Connector, *topics: str, flow: ConnectorFlow | None = None) -> list[Node]:
    rates, lags = {"orders": 12.0}, {"orders": 1_234}
    return (flow or ConnectorFlow()).nodes(connector, topics, rates, lags)


def test_a_sink_is_drawn_from_its_topics_to_its_target() -> None:
    config = {"topics": "orders, bills", "connection.url": "jdbc:mariadb://ann:pw@db/a?password=x"}
    sink = replace(connector("RUNNING", lag=7, rows_written=5), config=config)
    flow = ConnectorFlow()
    orders, bills, itself, target = _drawn(sink, flow=flow)
    assert (orders.label, orders.into, orders.figures) == (
        "orders",
        ["connector"],
        "12 records/s, lag 1,234",
    )
    assert (bills.label, bills.figures) == ("bills", "")
    assert (itself.label, itself.into, itself.figures) == ("a", ["outside"], "running, lag 7")
    assert (target.label, target.figures) == ("jdbc:mariadb://db/a", "target")
    again = replace(sink, progress={"rows_written": 50})
    assert "rows/s" in _drawn(again, flow=flow)[2].figures
    # It was started anew, so that nobody knows how fast it is.
    assert _drawn(replace(sink, progress={"rows_written": 1}), flow=flow)[2].figures == "running"


def test_a_source_is_drawn_from_what_it_reads_to_its_topics() -> None:
    failed = Task(0, "FAILED", "w", "no disk")
    source = replace(
        connector("RUNNING", failed), type="source", config={"path": "/var/log/a", "topic": "logs"}
    )
    outside, itself, topic = _drawn(source)
    assert (outside.label, outside.into) == ("/var/log/a", ["connector"])
    assert (itself.figures, itself.into) == ("failed", ["topic:logs"])
    assert topic.label == "logs"
    used = [f"t{number}" for number in range(MOST_TOPICS + 5)]
    *_, last = _drawn(source, *used)
    assert last.label == "5 more topics"
    bare = replace(source, class_name="org.x.AnySource", config={"url": "${env:URL}"})
    assert outside_of(bare) == "${env:URL}"
    assert outside_of(replace(bare, config={})) == "AnySource"


class Worker:
    """Answers as a Connect worker that has one connector, which has failed."""

    url = "http://worker:8083"

    def ask(self, *_: object, **__: object) -> dict[str, Any]:
        status = {
            "name": "a b",
            "connector": {"state": "RUNNING", "worker_id": "w"},
            "tasks": [{"id": 0, "state": "FAILED", "worker_id": "w", "trace": "no disk\nat 1"}],
            "type": "sink",
        }
        info = {"name": "a b", "config": {"connector.class": "A"}, "tasks": [], "type": "sink"}
        return {"a b": {"status": status, "info": info}}


def test_a_failed_connector_is_a_problem_of_the_platform() -> None:
    (problem,) = of_connectors(Connect(cast("JsonService", Worker())))
    assert problem.what == "Connector a b is failed: no disk"
    assert problem.href == "/connect/connectors/a%20b"
