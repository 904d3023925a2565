"""The jobs of persistent queries follow what the engine says; a host that only notes stands in."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, cast

import pytest
from tests.waiting import wait_for

from headwater.clients.errors import ClientError
from headwater.plan.errors import PlanError
from headwater.sql.parser.parser import parse
from headwater.sql.server.config import SqlConfig
from headwater.sql.server.engine import Engine
from headwater.sql.server.queries import query_jobs
from headwater.sql.server.queries.query_jobs import QueryJobs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from headwater.spark.jobs.host import JobHost

_STOPPED_WITHIN_S = 60.0


class NotingHost:
    """Takes commands as the host of jobs does, and runs nothing."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.failures: list[Exception] = []
        self.may_start = threading.Event()
        self.may_start.set()

    def start(self, name: str, plan: Any, **_: Any) -> None:
        self._note("start", name)
        assert self.may_start.wait(_STOPPED_WITHIN_S)
        if self.failures:
            raise self.failures.pop()

    def pause(self, name: str) -> None:
        self._note("pause", name)

    def resume(self, name: str) -> None:
        self._note("resume", name)

    def remove(self, name: str) -> None:
        self._note("remove", name)

    def _note(self, call: str, name: str) -> None:
        self.calls.append((call, name.rpartition("query_")[2]))


@pytest.fixture
def host() -> NotingHost:
    return NotingHost()


@pytest.fixture
def jobs(host: NotingHost, tmp_path: Path) -> Iterator[QueryJobs]:
    made = QueryJobs(cast("JobHost", host), SqlConfig(state_dir=tmp_path))
    made.start()
    yield made
    host.may_start.set()
    made.stop()


@pytest.fixture
def engine() -> Engine:
    made = Engine()
    run(
        made,
        "CREATE STREAM s (k STRING KEY, n INT) WITH (kafka_topic='s', value_format='JSON');"
        "CREATE STREAM a AS SELECT * FROM s; CREATE STREAM b AS SELECT * FROM s;",
    )
    return made


def run(engine: Engine, text: str) -> None:
    for number, parsed in enumerate(parse(text)):
        engine.change(parsed.statement, parsed.text, {}, number)


def test_what_should_run_is_started_paused_and_stopped(
    jobs: QueryJobs, host: NotingHost, engine: Engine
) -> None:
    host.may_start.clear()
    jobs.want(engine.queries)
    wait_for(lambda: host.calls == [("start", "CSAS_A_1")])
    run(engine, "PAUSE CSAS_B_2;")
    jobs.want(engine.queries)
    host.may_start.set()
    run(engine, "PAUSE CSAS_A_1;")
    jobs.want(engine.queries)
    assert jobs.wait_for_stops(_STOPPED_WITHIN_S)
    assert host.calls == [("start", "CSAS_A_1"), ("pause", "CSAS_A_1")], "B is never started"
    run(engine, "RESUME ALL;")
    jobs.want(engine.queries)
    wait_for(lambda: set(host.calls[2:]) == {("resume", "CSAS_A_1"), ("start", "CSAS_B_2")})
    jobs.want({})
    assert jobs.wait_for_stops(_STOPPED_WITHIN_S)
    assert sorted(host.calls[4:]) == [("remove", "CSAS_A_1"), ("remove", "CSAS_B_2")]


def test_what_cannot_start_is_tried_again_unless_that_is_of_no_use(
    jobs: QueryJobs, host: NotingHost, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_jobs, "_TRY_AGAIN_S", 0.01)
    host.failures = [ClientError("no broker"), PlanError("cannot be")]
    jobs.want(engine.queries)
    wait_for(lambda: host.calls.count(("start", "CSAS_B_2")) == 2)
    first, second = engine.queries.values()
    assert jobs.state(first).state == "ERROR"
    assert "cannot be" in jobs.state(first).error
    assert host.calls.count(("start", "CSAS_A_1")) == 1
    run(engine, "PAUSE CSAS_A_1;")
    jobs.want(engine.queries)
    assert jobs.state(engine.queries["CSAS_A_1"]).state == "PAUSED"
    assert second.id == "CSAS_B_2"
