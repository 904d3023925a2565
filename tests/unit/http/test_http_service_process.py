"""A service as a process: what it says when it cannot start, and that it lets go of everything."""

from __future__ import annotations

import os
import re
import signal
import threading
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

from tests.unit.http.running_app import app_of
from tests.waiting import wait_for

from headwater.http.errors import StartError
from headwater.http.listening import listen
from headwater.http.service_process import run

if TYPE_CHECKING:
    import ssl

    import pytest


class Sleeper:
    """A service that does nothing, or fails to."""

    title = "sleeper"

    def __init__(self, failure: Exception | None = None) -> None:
        self.app = app_of()
        self.failure = failure
        self.stopped = 0

    async def start(self) -> None:
        if self.failure is not None:
            raise self.failure

    async def stop(self) -> None:
        self.stopped += 1

    def summary(self) -> str:
        return "0 dreams"


def test_it_serves_until_a_signal(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    service = Sleeper()

    def ask_and_stop() -> None:
        ready = wait_for(lambda: re.search(r"sleeper listening on (\S+)", caplog.text))
        assert ready is not None
        urllib.request.urlopen(f"{ready[1]}/health").close()
        os.kill(os.getpid(), signal.SIGTERM)

    asking = threading.Thread(target=ask_and_stop)
    asking.start()
    assert run(lambda url: service, "127.0.0.1", 0) == 0
    asking.join()
    assert service.stopped == 1
    assert "(0 dreams, ready in" in caplog.text


def test_a_port_in_use_is_named(caplog: pytest.LogCaptureFixture) -> None:
    with listen("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        assert run(lambda url: Sleeper(), "127.0.0.1", port) == 1
    assert f"can't start: port {port} is in use" in caplog.text


def test_a_service_that_cannot_start_says_why(caplog: pytest.LogCaptureFixture) -> None:
    service = Sleeper(StartError("the topic is not there"))
    assert run(lambda url: service, "127.0.0.1", 0) == 1
    assert "can't start: the topic is not there" in caplog.text
    assert service.stopped == 1


def test_a_file_that_is_not_there_is_named(caplog: pytest.LogCaptureFixture) -> None:
    def tls() -> ssl.SSLContext | None:
        Path("/nowhere/server.pem").read_bytes()
        return None

    assert run(lambda url: Sleeper(), "127.0.0.1", 0, tls=tls) == 1
    assert "can't start: /nowhere/server.pem: No such file or directory" in caplog.text
