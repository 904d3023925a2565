"""Guests of one process, alone and beside others, without a job: each on its port, no Spark."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from typing import TYPE_CHECKING

import pytest
from tests.integration.copy_guest import COPIER, MIRROR
from tests.waiting import wait_for

from headwater.clients import ClusterAccess
from headwater.config.given import Given
from headwater.config.sources import from_options
from headwater.guests.guest import load_guest
from headwater.guests.process import Seat, run
from headwater.http.errors import StartError
from headwater.http.listening import listen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.guests.guest import Guest

ROOM = "127.0.0.1"


def serve(*seats: Seat) -> int:
    return run(seats, ClusterAccess(), {})


def seat(guest: Guest, port: int = 0, **given: str) -> Seat:
    return Seat(guest, ROOM, port, from_options(given, "--property"))


def url_of(guest: Guest, log: pytest.LogCaptureFixture) -> str:
    ready = wait_for(lambda: re.search(rf"{guest.name} listening on (\S+)", log.text))
    assert ready is not None
    return ready[1]


@pytest.mark.parametrize("guests", [[COPIER], [COPIER, MIRROR]])
def test_each_listens_until_a_signal(
    guests: Sequence[Guest], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    answers: list[object] = []

    def ask_and_stop() -> None:
        for guest in guests:
            with urllib.request.urlopen(f"{url_of(guest, caplog)}/copies") as answer:
                answers.append(json.load(answer))
        os.kill(os.getpid(), signal.SIGTERM)

    asking = threading.Thread(target=ask_and_stop)
    asking.start()
    assert serve(*(seat(guest) for guest in guests)) == 0
    asking.join()
    assert answers == [[] for _ in guests]
    assert caplog.text.count("(0 jobs, ready in") == len(guests)


def test_one_that_cannot_start_is_named_and_none_starts(caplog: pytest.LogCaptureFixture) -> None:
    assert serve(seat(COPIER), seat(MIRROR, suffix="mirrored")) == 1
    assert (
        "can't start: mirror: --property: Invalid value mirrored for configuration suffix: it has "
        "to start with -" in caplog.text
    )
    caplog.clear()
    assert serve(seat(COPIER, sufix="-x"), seat(MIRROR)) == 1
    assert (
        "can't start: copier: --property: Unknown setting sufix: there is no copier setting of "
        "that name; did you mean suffix?" in caplog.text
    )
    caplog.clear()
    with listen(ROOM, 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        assert serve(seat(COPIER), Seat(MIRROR, ROOM, port, Given())) == 1
    assert f"can't start: mirror: port {port} is in use" in caplog.text


def test_a_guest_is_found_by_its_module() -> None:
    assert load_guest("tests.integration.copy_guest:COPIER") is COPIER
    for target in ("tests.integration.copy_guest:NONE", "no.such:GUEST", "headwater"):
        with pytest.raises(StartError, match=f"there is no service at '{target}'"):
            load_guest(target)
    with pytest.raises(StartError, match="is a type, and no service that needs Spark"):
        load_guest("tests.integration.copy_guest:CopyService")


def test_spark_is_not_loaded_before_there_is_a_job() -> None:
    program = (
        "import sys, tests.integration.copy_guest, headwater.guests.process; "
        "print([each for each in ('pyspark', 'py4j', 'pyarrow', 'pandas') if each in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
