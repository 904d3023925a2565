"""Kafka Connect's REST API, on a worker whose connectors have nothing to do."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.connect_worker import IdleTask, WorkerInThread, open_idle
from tests.integration.registry_fixtures import read_topic
from tests.waiting import wait_for

from headwater.connect.connectors.connector import ConnectorError
from headwater.http.listener_settings import ListenerConfig
from headwater.testing import Broker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STRING = "org.apache.kafka.connect.storage.StringConverter"
SOURCE = {
    "connector.class": "FileStreamSource",
    "file": "/tmp/some-lines.txt",
    "topic": "lines",
    "key.converter": STRING,
    "value.converter": STRING,
}
SINK = {**SOURCE, "connector.class": "FileStreamSink", "topics": "lines"}


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    with Broker() as broker:
        broker.create_topic("lines")
        yield broker.bootstrap_servers


@pytest.fixture(scope="module")
def worker(servers: str) -> Iterator[WorkerInThread]:
    with WorkerInThread(servers, "rest", open_task=open_or_fail) as worker:
        yield worker


def open_or_fail(spec: Any, progress: Any, note_topics: Any) -> IdleTask:
    if spec.name.startswith("failing"):
        raise ConnectorError(f"no such thing as {spec.properties['file']}")
    note_topics(["lines"])
    return open_idle(spec, progress, note_topics)  # type: ignore[return-value]


def test_a_connector_is_made_changed_and_deleted(worker: WorkerInThread) -> None:
    made = worker.http.post("/connectors", json={"name": "first", "config": SOURCE})
    assert made.status_code == 201
    assert made.headers["location"] == "/connectors/first"
    assert made.json() == {
        "name": "first",
        "config": {**SOURCE, "name": "first"},
        "tasks": [{"connector": "first", "task": 0}],
        "type": "source",
    }
    assert "first" in worker.get("/connectors")
    status = worker.wait_for_state("first", "RUNNING")
    assert status["connector"] == {"state": "RUNNING", "worker_id": worker.url[len("http://") :]}
    again = worker.http.post("/connectors", json={"name": "first", "config": SOURCE})
    assert again.status_code == 409
    assert again.json() == {"error_code": 409, "message": "Connector first already exists"}
    changed = worker.http.put("/connectors/first/config", json={**SOURCE, "tasks.max": 2})
    assert changed.status_code == 200
    assert worker.get("/connectors/first/config")["tasks.max"] == "2"
    patched = worker.http.patch("/connectors/first/config", json={"tasks.max": None, "topic": "t"})
    assert patched.json()["config"] == {**SOURCE, "name": "first", "topic": "t"}
    expanded = worker.get("/connectors?expand=status&expand=info")["first"]
    assert set(expanded) == {"status", "info"}
    (task,) = worker.get("/connectors/first/tasks")
    assert task["id"] == {"connector": "first", "task": 0}
    assert worker.http.delete("/connectors/first").status_code == 204
    gone = worker.http.get("/connectors/first")
    assert gone.status_code == 404
    assert gone.json() == {"error_code": 404, "message": "Connector first not found"}


def test_it_is_paused_stopped_and_restarted(worker: WorkerInThread) -> None:
    assert worker.http.put("/connectors/second/config", json=SOURCE).status_code == 201
    worker.wait_for_state("second", "RUNNING")
    assert worker.http.put("/connectors/second/pause").status_code == 202
    paused = worker.wait_for_state("second", "PAUSED")
    assert [task["state"] for task in paused["tasks"]] == ["PAUSED"]
    assert worker.http.put("/connectors/second/resume").status_code == 202
    worker.wait_for_state("second", "RUNNING")
    assert worker.http.post("/connectors/second/restart").status_code == 204
    restarted = worker.http.post("/connectors/second/restart?includeTasks=true")
    assert restarted.status_code == 202
    assert restarted.json()["connector"]["state"] == "RESTARTING"
    worker.wait_for_state("second", "RUNNING")
    assert worker.http.put("/connectors/second/stop").status_code == 204
    assert worker.wait_for_state("second", "STOPPED")["tasks"] == []


def test_a_failed_one_says_why_and_is_tried_again(worker: WorkerInThread) -> None:
    worker.http.put("/connectors/failing/config", json=SOURCE)
    failed = worker.wait_for_state("failing", "FAILED")
    assert failed["connector"]["state"] == "RUNNING"
    first_line, *rest = failed["tasks"][0]["trace"].splitlines()
    assert first_line == f"no such thing as {SOURCE['file']}"
    assert any("Traceback" in line for line in rest)
    wait_for(lambda: worker.get("/connectors/failing/status")["progress"]["restarts"])
    assert worker.get("/connectors/failing/tasks/0/status")["id"] == 0
    assert worker.http.get("/connectors/failing/tasks/7/status").status_code == 404
    worker.http.delete("/connectors/failing")


def test_what_is_wrong_is_named_field_by_field(worker: WorkerInThread) -> None:
    wrong = {**SOURCE, "tasks.max": "many", "errors.tolerance": "some"}
    refused = worker.http.post("/connectors", json={"name": "wrong", "config": wrong})
    assert refused.status_code == 400
    message = refused.json()["message"]
    assert "2 error(s)" in message
    assert "tasks.max" in message
    assert "errors.tolerance" in message
    assert "wrong" not in worker.get("/connectors")
    path = "/connector-plugins/FileStreamSource/config/validate"
    infos = worker.http.put(path, json={**wrong, "name": "wrong"}).json()
    assert infos["name"] == "org.apache.kafka.connect.file.FileStreamSourceConnector"
    assert infos["error_count"] == 2
    values = {each["value"]["name"]: each["value"] for each in infos["configs"]}
    assert len(values["tasks.max"]["errors"]) == 1
    assert values["errors.tolerance"]["recommended_values"] == ["none", "all"]
    misplaced = {**SOURCE, "name": "x", "transforms": "t", "transforms.t.type": "Nothing"}
    infos = worker.http.put(path, json=misplaced).json()
    (error,) = [each["value"] for each in infos["configs"] if each["value"]["errors"]]
    assert error["name"] == "transforms.t.type"
    unknown = worker.http.post(
        "/connectors", json={"name": "x", "config": {"connector.class": "Fil"}}
    )
    assert unknown.status_code == 400
    assert "there is no connector class Fil" in unknown.json()["message"]
    no_topics = {key: value for key, value in SINK.items() if key != "topics"}
    refused = worker.http.put("/connectors/wrong/config", json=no_topics)
    assert "either topics" in refused.json()["message"]


def test_plugins_say_what_they_take(worker: WorkerInThread) -> None:
    classes = {each["class"]: each["type"] for each in worker.get("/connector-plugins")}
    assert classes["org.apache.kafka.connect.file.FileStreamSinkConnector"] == "sink"
    keys = {each["name"]: each for each in worker.get("/connector-plugins/FileStreamSource/config")}
    assert keys["file"]["documentation"]
    assert keys["connector.class"]["required"] is True
    assert worker.http.get("/connector-plugins/Nobody/config").status_code == 404


def test_offsets_are_changed_while_it_is_stopped(worker: WorkerInThread) -> None:
    worker.http.post(
        "/connectors", json={"name": "third", "config": SOURCE, "initial_state": "STOPPED"}
    )
    worker.wait_for_state("third", "STOPPED")
    assert worker.get("/connectors/third/offsets") == {"offsets": []}
    changed = {"partition": {"filename": SOURCE["file"]}, "offset": {"position": 30}}
    answer = worker.http.patch("/connectors/third/offsets", json={"offsets": [changed]})
    assert answer.json() == {
        "message": "The offsets for this connector have been altered successfully"
    }
    assert worker.get("/connectors/third/offsets") == {"offsets": [changed]}
    assert worker.http.delete("/connectors/third/offsets").status_code == 200
    assert worker.get("/connectors/third/offsets") == {"offsets": []}
    worker.http.put("/connectors/third/resume")
    refused = worker.http.delete("/connectors/third/offsets")
    assert refused.status_code == 400
    assert "STOPPED state" in refused.json()["message"]


def test_a_sinks_offsets_are_its_groups(worker: WorkerInThread) -> None:
    worker.http.post("/connectors", json={"name": "k", "config": SINK, "initial_state": "STOPPED"})
    worker.wait_for_state("k", "STOPPED")
    given = {"partition": {"kafka_topic": "lines", "kafka_partition": 0}}
    changed = {**given, "offset": {"kafka_offset": 3}}
    answer = worker.http.patch("/connectors/k/offsets", json={"offsets": [changed]})
    assert answer.status_code == 200, answer.text
    assert worker.get("/connectors/k/offsets") == {"offsets": [changed]}
    answer = worker.http.delete("/connectors/k/offsets")
    assert answer.status_code == 200, answer.text
    assert worker.get("/connectors/k/offsets") == {"offsets": []}


def test_topics_are_told_and_forgotten(worker: WorkerInThread) -> None:
    worker.http.put("/connectors/fourth/config", json=SOURCE)
    path = "/connectors/fourth/topics"
    wait_for(lambda: worker.get(path)["fourth"]["topics"] == ["lines"])
    assert worker.http.put(f"{path}/reset").status_code == 200
    assert worker.get(path) == {"fourth": {"topics": []}}


def test_secrets_are_stored_and_shown_as_references(
    worker: WorkerInThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_FILE", "/tmp/the-secret")
    config = {**SOURCE, "file": "${env:SECRET_FILE}"}
    worker.http.put("/connectors/failing-secret/config", json=config)
    failed = worker.wait_for_state("failing-secret", "FAILED")
    assert "the-secret" not in json.dumps(failed)
    assert "no such thing as [hidden]" in failed["tasks"][0]["trace"]
    assert worker.get("/connectors/failing-secret/config")["file"] == "${env:SECRET_FILE}"
    worker.http.delete("/connectors/failing-secret")
    refused = worker.http.put("/connectors/x/config", json={**SOURCE, "file": "${env:NO_SUCH}"})
    assert "no such environment variable" in refused.json()["message"]


def test_the_worker_its_metrics_and_its_loggers(worker: WorkerInThread) -> None:
    assert set(worker.get("/")) == {"version", "commit", "kafka_cluster_id"}
    assert b"headwater_connect_rows_read" in worker.http.get("/metrics").content
    assert "root" in worker.get("/admin/loggers")


def test_its_records_are_kafka_connects(worker: WorkerInThread, servers: str) -> None:
    worker.http.put("/connectors/told/config", json=SOURCE)
    worker.wait_for_state("told", "RUNNING")
    worker.http.put("/connectors/told/stop")
    worker.wait_for_state("told", "STOPPED")
    configs = {each.key: each.value for each in read_topic(servers, "rest-config")}
    properties = {"properties": {**SOURCE, "name": "told"}}
    assert json.loads(configs[b"connector-told"] or b"") == properties
    assert json.loads(configs[b"task-told-0"] or b"") == properties
    assert json.loads(configs[b"commit-told"] or b"") == {"tasks": 1}
    target = json.loads(configs[b"target-state-told"] or b"")
    assert target == {"state": "PAUSED", "state.v2": "STOPPED"}
    statuses = [
        json.loads(each.value or b"null")
        for each in read_topic(servers, "rest-status")
        if each.key == b"status-connector-told"
    ]
    assert statuses[0]["state"] == "RUNNING"
    assert set(statuses[0]) == {"state", "trace", "worker_id", "generation"}


def test_another_worker_passes_on_and_takes_over(servers: str) -> None:
    with ExitStack() as stack:
        leader = stack.enter_context(WorkerInThread(servers, "pair"))
        leader.http.put("/connectors/shared/config", json=SOURCE)
        leader.wait_for_state("shared", "RUNNING")
        with WorkerInThread(servers, "pair") as other:
            assert other.get("/connectors") == ["shared"]
            passed_on = other.http.put("/connectors/other/config", json=SOURCE)
            assert passed_on.status_code == 201, passed_on.text
            assert other.get("/connectors") == ["other", "shared"]
            stack.close()
            wait_for(
                lambda: other.get("/connectors/shared/status")["connector"]["worker_id"],
                until=lambda worker: worker in other.url,
            )
            other.wait_for_state("shared", "RUNNING")


def test_rules_say_who_may_do_what_to_which_connectors(servers: str, tmp_path: Path) -> None:
    (tmp_path / "users.txt").write_text("ann: a\nbob: b\n")
    rules = [
        ("ann", "ADMIN", "PREFIXED", "anns-"),
        ("bob", "WRITE", "PREFIXED", "anns-"),
        ("bob", "ADMIN", "LITERAL", "bobs"),
    ]
    (tmp_path / "rules.json").write_text(
        json.dumps(
            [
                {
                    "principal": f"User:{user}", "resourceType": "CONNECTOR", "name": name,
                    "patternType": pattern, "operation": operation,
                }
                for user, operation, pattern, name in rules
            ]
        )
    )  # fmt: skip
    listener = ListenerConfig(users_file=tmp_path / "users.txt", rules_file=tmp_path / "rules.json")
    with WorkerInThread(servers, "rules", listener=listener) as worker:
        ann, bob = ("ann", "a"), ("bob", "b")

        def ask(user: tuple[str, str], method: str, path: str, body: Any = None) -> int:
            return worker.http.request(method, path, json=body, auth=user).status_code

        assert ask(ann, "POST", "/connectors", {"name": "anns-1", "config": SOURCE}) == 201
        refused = worker.http.post("/connectors", json={"name": "bobs", "config": SOURCE}, auth=ann)
        assert refused.status_code == 403
        assert refused.json() == {
            "error_code": 40301,
            "message": "Forbidden: User:ann has no ADMIN on the connector bobs",
        }
        assert ask(bob, "PUT", "/connectors/bobs/config", SOURCE) == 201
        assert ask(bob, "PUT", "/connectors/anns-1/pause") == 202
        assert ask(bob, "PUT", "/connectors/anns-1/config", SOURCE) == 403
        assert ask(bob, "DELETE", "/connectors/anns-1") == 403
        assert ask(ann, "GET", "/connectors/bobs") == 403
        assert worker.http.get("/connectors", auth=ann).json() == ["anns-1"]
        assert set(worker.http.get("/connectors?expand=info", auth=bob).json()) == {
            "anns-1", "bobs",
        }  # fmt: skip
