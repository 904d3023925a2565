"""Telling of programs: a cluster that does not answer keeps nobody waiting at the end."""

from __future__ import annotations

import socket
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from headwater.spark.jobs import announcements
from headwater.spark.jobs.announcements import Announcer
from headwater.spark.jobs.status import JobState, JobStatus
from headwater.streams import App

if TYPE_CHECKING:
    import pytest


def test_a_cluster_that_never_answered_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    # Longer than an attempt to connect, so that whoever waits here finds the thread at its end.
    monkeypatch.setattr(announcements, "_WITHIN_S", 60.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        app = App("alerts", bootstrap_servers=f"127.0.0.1:{silent.getsockname()[1]}")
        app.stream("readings", value_type="id string").to("alerts")
        job = JobStatus(
            "alerts", "run", JobState.STARTING, datetime.now(UTC), 0, 0, "", "", progress=()
        )
        with Announcer(lambda: [(job, app.plan())], every_s=0.01):
            silent.accept()[0].close()
        trying = [each for each in threading.enumerate() if each.name == "headwater-programs"]
        assert trying, "it waited until the attempt to connect had ended"
    for thread in trying:
        thread.join()
