"""Programs in the console: told of by themselves, drawn with their figures, gone when they are."""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import replace
from datetime import UTC, datetime
from subprocess import Popen
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer
from tests.integration.console.what_is_there import HOSTILE
from tests.waiting import wait_for

from headwater.clients import ClusterAccess
from headwater.console.model.cluster import Cluster
from headwater.console.model.programs import programs
from headwater.plan.splitting.stages import split
from headwater.spark.jobs import announcements
from headwater.spark.jobs.announcements import Announcer
from headwater.spark.jobs.progress import QueryProgress
from headwater.spark.jobs.status import JobState, JobStatus
from headwater.streams import App, col

if TYPE_CHECKING:
    from tests.browser import Browser

    from headwater.plan.plan import Plan

pytestmark = pytest.mark.needs("chromium", "chromedriver")


def _plan(bootstrap_servers: str) -> Plan:
    app = App("alerts", bootstrap_servers=bootstrap_servers)
    orders = app.stream("orders", value_type="id bigint")
    large = orders.filter(col("id") > 5)
    large.to("orders-large")
    large.group_by_key().count(emit="record").to_stream().to("orders-counts")
    return app.plan()


def _status(plan: Plan) -> JobStatus:
    """How a job is of whose queries the last lags, and the others have not told anything yet."""
    *others, last = [QueryProgress(each.name, "real-time", stage=each.name) for each in split(plan)]
    last = replace(
        last,
        state="running",
        batch=3,
        rows=12_345,
        rows_per_second=98.0,
        lag=1_234,
        lags={"orders": 1_234},
        state_rows=777,
        why_micro_batches="a record is to meet what the table had before it",
    )
    since = datetime.now(UTC)
    return JobStatus(plan.name, "run", JobState.RUNNING, since, 2, 0, "", "", (*others, last))


def test_what_one_side_writes_the_other_reads() -> None:
    assert announcements.TOPIC == programs.TOPIC
    assert announcements.GONE_AFTER_S == programs.GONE_AFTER_S


def test_a_program_is_drawn_while_it_runs(browser: Browser, bootstrap_servers: str) -> None:
    browser.open("/pipelines", "Pipelines")
    browser.sees("Nothing runs. Start a program with headwater run")
    plan = _plan(bootstrap_servers)
    status = _status(plan)
    with Announcer(lambda: [(status, plan)], every_s=0.2):
        browser.sees("micro-batches", "table")
        browser.click("alerts", "table a")
        browser.sees("alerts", "h1")
        browser.sees("1,234", ".hw-figures")
        browser.sees("lag 1,234", ".hw-wide")
        browser.sees("777 rows of state", ".hw-wide")
        browser.sees("a record is to meet what the table had before it", "h2")
        browser.sees("12,345", "table")
        assert "headwater consume _headwater_programs --offset 30s" in browser.text("code")
        assert "orders-counts" in browser.text("table")
    browser.sees("No program 'alerts' runs now")


def test_nobody_can_do_harm_by_what_he_tells(browser: Browser, bootstrap_servers: str) -> None:
    plan = _plan(bootstrap_servers)
    status = replace(_status(plan), name=HOSTILE[1], error=HOSTILE[0])
    producer = Producer({"bootstrap.servers": bootstrap_servers})
    for nonsense in (b"[]", b"no JSON", b'{"name": 1}', b"\xff\xfe"):
        producer.produce(announcements.TOPIC, nonsense, b"run/nonsense")
    assert producer.flush(30) == 0
    with Announcer(lambda: [(status, plan)], every_s=0.2):
        browser.open("/pipelines", "Pipelines")
        browser.sees(HOSTILE[1], "table")
        browser.click(HOSTILE[1], "table a")
        browser.sees(HOSTILE[1], "h1")
        browser.sees(HOSTILE[0], ".hw-note")


def announce(bootstrap_servers: str) -> None:
    """Tell of a program until this process is killed."""
    plan = _plan(bootstrap_servers)
    status = replace(_status(plan), name="killed")
    with Announcer(lambda: [(status, plan)], every_s=0.2):
        threading.Event().wait()


def test_a_program_that_was_killed_is_gone_when_it_is_silent(bootstrap_servers: str) -> None:
    seen = programs.Programs(Cluster(ClusterAccess(bootstrap_servers), "default"), 3.0)

    def names() -> list[str]:
        return [each.name for each in seen.all()]

    program = f"from {__name__} import announce; announce({bootstrap_servers!r})"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with Popen([sys.executable, "-c", program], env=environment) as process:
        try:
            wait_for(names, until=["killed"].__eq__)
        finally:
            process.kill()
    wait_for(names, until=[].__eq__)
