"""The supervisor: order, health, restarts, clean and forced stops, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.processes import runs
from tests.unit.up.supervised import HUNG_AFTER_S, Supervised

from headwater.processes.ports import FreePorts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Start = Callable[..., Supervised]

DRIVER = str(Path(__file__).with_name("run_supervisor.py"))
ROOT = str(Path(__file__).parents[3])
QUICK = {
    "look_every_s": 0.05,
    "first_pause_s": 0.05,
    "longest_pause_s": 0.2,
    "guard_kills_after_s": 1,
}


# Soon enough for a test, and a busy machine does not look like a hang yet.
HANGS_SOON = {"answer_within_s": 2, "restart_after_misses": 2}


class Journal:
    """What the fake services did, in the order they did it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def events(self, *kinds: str) -> list[str]:
        lines = [line.split() for line in self.path.read_text().splitlines()]
        return [f"{name} {kind}" for name, kind, _ in lines if kind in (kinds or (kind,))]

    def pids(self, name: str, kind: str = "started") -> list[int]:
        lines = [line.split() for line in self.path.read_text().splitlines()]
        return [int(pid) for each, what, pid in lines if (each, what) == (name, kind)]


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    (tmp_path / "journal").touch()
    return Journal(tmp_path / "journal")


@pytest.fixture
def ports() -> Iterator[FreePorts]:
    free = FreePorts("127.0.0.1")
    yield free
    free.close()


@pytest.fixture
def start(tmp_path: Path, journal: Journal, ports: FreePorts) -> Iterator[Start]:
    started: list[Supervised] = []

    def run(*services: dict[str, Any], **timing: float) -> Supervised:
        told = {
            "journal": str(journal.path),
            "services": [{"port": ports.pick(), **service} for service in services],
            "timing": {**QUICK, **timing},
        }
        command = [sys.executable, DRIVER, json.dumps(told)]
        started.append(Supervised(command, tmp_path, {"PYTHONPATH": ROOT}))
        return started[-1]

    yield run
    for supervised in started:
        with supervised:
            pass


FIRST = {"name": "first"}
SECOND = {"name": "second", "depends_on": ["first"]}
THIRD = {"name": "third", "depends_on": ["second"]}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_starts_in_order_and_stops_in_reverse(
    start: Start, journal: Journal, number: signal.Signals
) -> None:
    up = start(THIRD, SECOND, FIRST)
    up.wait_for("READY")
    assert journal.events() == ["first started", "second started", "third started"]
    up.signal(number)
    assert up.wait() == 0
    assert journal.events("asked", "stopped") == [
        *("third asked", "third stopped"),
        *("second asked", "second stopped"),
        *("first asked", "first stopped"),
    ]
    assert up.survivors() == []
    assert f"{number.name}: stopping; once more forces it" in up.text
    assert up.lines[-1].endswith(" stopped")


def test_each_line_has_its_services_name(start: Start) -> None:
    up = start(FIRST, SECOND)
    up.wait_for("READY")
    up.wait_for(r"^first  \| first says hello$")
    up.wait_for(r"^second \| second says hello$")
    assert all(line.startswith(("up     | ", "first  | ", "second | ")) for line in up.lines)
    up.signal(signal.SIGTERM)
    assert up.wait() == 0


def test_a_dependent_waits_until_what_it_needs_is_healthy(
    start: Start, journal: Journal, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    broken.touch()
    up = start(
        {**FIRST, "options": ["--unhealthy-while", str(broken)]}, SECOND, say_still_starting_s=0.2
    )
    up.wait_for("still waiting for first: HTTP 503 on /")
    assert journal.events() == ["first started"]
    broken.unlink()
    up.wait_for("READY")
    assert journal.events() == ["first started", "second started"]


def test_what_is_stopped_on_purpose_stays_down_until_it_is_wanted_again(
    start: Start, journal: Journal, tmp_path: Path
) -> None:
    held = tmp_path / "held"
    up = start({**FIRST, "held_by": str(held)}, SECOND)
    up.wait_for("READY")
    held.touch()
    os.kill(journal.pids("first")[-1], signal.SIGKILL)
    up.wait_for(r"first was stopped on purpose \(SIGKILL\)")
    # What needs it can be started without it, since it will not come by itself.
    os.kill(journal.pids("second")[-1], signal.SIGKILL)
    up.wait_for("second is healthy again")
    assert len(journal.pids("first")) == 1
    held.unlink()
    up.wait_for("first is wanted again")
    up.wait_for("first is healthy again")
    assert len(journal.pids("first")) == 2
    held.touch()
    os.kill(journal.pids("first")[-1], signal.SIGKILL)
    up.wait_for(r"first was stopped on purpose", 2)
    up.signal(signal.SIGTERM)
    assert up.wait() == 0


def test_what_died_is_started_again_and_the_others_are_left_alone(
    start: Start, journal: Journal
) -> None:
    up = start(FIRST, SECOND)
    up.wait_for("READY")
    for death in range(1, 4):
        os.kill(journal.pids("first")[-1], signal.SIGKILL)
        up.wait_for(r"first died \(SIGKILL\) after \d+\.\d s; starting it again in", death)
        up.wait_for("first is healthy again", death)
    pauses = [line.split()[-2] for line in up.lines if "first died" in line]
    assert pauses == ["0.05", "0.1", "0.2"]
    assert len(journal.pids("first")) == 4
    assert len(journal.pids("second")) == 1
    up.signal(signal.SIGTERM)
    assert up.wait() == 0
    assert journal.events("stopped") == ["second stopped", "first stopped"]
    assert up.survivors() == []


def test_after_a_good_run_the_pause_is_short_again(start: Start, journal: Journal) -> None:
    up = start(FIRST, fine_after_s=0)
    up.wait_for("READY")
    for death in range(1, 3):
        os.kill(journal.pids("first")[-1], signal.SIGKILL)
        up.wait_for("first is healthy again", death)
    assert up.text.count("starting it again in 0.05 s") == 2


def test_a_stop_during_the_pause(start: Start, journal: Journal) -> None:
    up = start(FIRST, SECOND, first_pause_s=HUNG_AFTER_S, longest_pause_s=HUNG_AFTER_S)
    up.wait_for("READY")
    os.kill(journal.pids("first")[-1], signal.SIGKILL)
    up.wait_for("first died")
    up.signal(signal.SIGTERM)
    assert up.wait() == 0
    assert journal.events("stopped") == ["second stopped"]


def test_one_that_runs_but_does_not_answer_is_reported(start: Start, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    up = start({**FIRST, "options": ["--unhealthy-while", str(broken)]})
    up.wait_for("READY")
    broken.touch()
    up.wait_for("first runs but does not answer: HTTP 503 on /")
    broken.unlink()
    up.wait_for("first is healthy again")
    up.signal(signal.SIGTERM)
    assert up.wait() == 0


def test_one_that_hangs_is_restarted_with_the_reason(start: Start, journal: Journal) -> None:
    hangs = {**SECOND, "stop_within_s": 0.2}
    up = start(FIRST, hangs, {**THIRD, "depends_on": ["first"]}, **HANGS_SOON)
    up.wait_for("READY")
    (hung,) = journal.pids("second")
    os.kill(hung, signal.SIGSTOP)
    up.wait_for("second runs but does not answer: no answer within 2 s")
    up.wait_for(
        r"second has missed 2 health checks in a row, in \d+\.\d s \(no answer within 2 s\); "
        "stopping it"
    )
    up.wait_for("second did not stop within 0.2 s; killing it")
    up.wait_for(r"second was stopped \(SIGKILL\), since it has missed 2 .*; starting it again in 0")
    up.wait_for("second is healthy again")
    assert not runs(hung)
    assert (len(journal.pids("first")), len(journal.pids("third"))) == (1, 1)
    up.signal(signal.SIGTERM)
    assert up.wait() == 0
    assert up.survivors() == []


def test_one_that_is_silent_for_a_while_is_left_alone(start: Start, journal: Journal) -> None:
    up = start(FIRST, **{**HANGS_SOON, "restart_after_misses": 1000})
    up.wait_for("READY")
    (silent,) = journal.pids("first")
    for number in (1, 2):
        os.kill(silent, signal.SIGSTOP)
        up.wait_for("first runs but does not answer", number)
        os.kill(silent, signal.SIGCONT)
        up.wait_for("first is healthy again", number)
    assert journal.pids("first") == [silent]


def test_a_stop_while_one_hangs(start: Start, journal: Journal) -> None:
    # The signal has to come while it is being stopped: after that it would be started again.
    up = start({**FIRST, "stop_within_s": 4}, **HANGS_SOON)
    up.wait_for("READY")
    os.kill(journal.pids("first")[0], signal.SIGSTOP)
    up.wait_for("first has missed 2 health checks in a row")
    up.signal(signal.SIGTERM)
    assert up.wait() == 1
    assert "first did not stop within 4 s; killing it" in up.text
    assert up.survivors() == []


def test_one_process_can_host_several_services(start: Start, journal: Journal) -> None:
    host = {"name": "host", "endpoints": ["one", "two"], "stop_within_s": 0.2}
    up = start(host, {**FIRST, "depends_on": ["host"]}, **HANGS_SOON)
    up.wait_for("READY")
    assert len(journal.pids("host")) == 1
    os.kill(journal.pids("host")[0], signal.SIGSTOP)
    # It may stop between the two questions of one check, so either can be the first to miss.
    up.wait_for("host runs but does not answer: (one|two): no answer within")
    up.wait_for(r"since it has missed 2 health checks in a row, .*\(one: no answer within")
    up.wait_for("host is healthy again")


def test_one_that_may_fail_does_not_take_the_others_down(
    start: Start, journal: Journal, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    broken.touch()
    optional = {**SECOND, "is_essential": False, "options": ["--fail-while", str(broken)]}
    missing = {"name": "third", "is_essential": False, "program": "/no/such/program"}
    up = start(FIRST, optional, missing)
    up.wait_for("READY")
    assert "all services are healthy but second, third, " in up.text
    up.wait_for("second ended with exit code 4 before it was ready; starting it again in 0.05 s")
    up.wait_for("third cannot be started: /no/such/program: No such file or directory; starting it")
    up.wait_for("second ended with exit code 4 before it was ready; starting it again in 0.2 s", 2)
    broken.unlink()
    up.wait_for("second is healthy$")
    up.signal(signal.SIGTERM)
    assert up.wait() == 0
    assert journal.events("stopped") == ["second stopped", "first stopped"]
    assert up.survivors() == []


def test_a_service_that_cannot_start_stops_all(start: Start, journal: Journal) -> None:
    up = start(FIRST, {**SECOND, "options": ["--fail-at-start", "3"]}, THIRD)
    assert up.wait() == 1
    assert "second | this cannot work" in up.lines
    assert "second ended with exit code 3 before it was ready; its last lines say why" in up.text
    assert journal.events() == ["first started", "second started", "first asked", "first stopped"]
    assert up.survivors() == []


def test_a_program_that_does_not_exist(start: Start) -> None:
    up = start(FIRST, {**SECOND, "program": "/no/such/program"})
    assert up.wait() == 1
    assert "second cannot be started: /no/such/program: No such file or directory" in up.text


def test_a_check_with_a_fault_ends_all_and_is_seen(start: Start, journal: Journal) -> None:
    up = start({**FIRST, "asked_at": "no..host"}, SECOND)  # no name is like that: a UnicodeError
    assert up.wait() == 1
    assert "UnicodeError: " in up.text
    assert journal.pids("second") == []
    assert up.survivors() == []


def test_one_that_does_not_stop_is_killed(start: Start, journal: Journal) -> None:
    up = start(FIRST, {**SECOND, "options": ["--ignore-sigterm"], "stop_within_s": 0.3})
    up.wait_for("READY")
    up.signal(signal.SIGTERM)
    assert up.wait() == 1
    assert "second did not stop within 0.3 s; killing it" in up.text
    assert "second ended with SIGKILL" in up.text
    assert journal.events("stopped") == ["first stopped"]
    assert up.survivors() == []


def test_one_that_stops_badly_is_reported(start: Start) -> None:
    up = start({**FIRST, "options": ["--stop-code", "7"]})
    up.wait_for("READY")
    up.signal(signal.SIGTERM)
    assert up.wait() == 1
    assert "first ended with exit code 7" in up.text


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_second_signal_forces(
    start: Start, journal: Journal, number: signal.Signals, code: int
) -> None:
    up = start(FIRST, {**SECOND, "options": ["--ignore-sigterm"], "stop_within_s": HUNG_AFTER_S})
    up.wait_for("READY")
    up.signal(number)
    up.wait_for("stopping second")
    up.signal(number)
    assert up.wait() == code
    assert f"{number.name} again: killing what still runs" in up.text
    assert journal.events("stopped") == []
    assert up.survivors() == []


def test_what_a_service_started_is_ended_with_it(start: Start, journal: Journal) -> None:
    up = start({**FIRST, "options": ["--grandchild"]})
    up.wait_for("READY")
    (grandchild,) = journal.pids("first", "grandchild")
    os.kill(journal.pids("first")[0], signal.SIGKILL)
    up.wait_for("first is healthy again")
    assert not runs(grandchild)
    up.signal(signal.SIGTERM)
    assert up.wait() == 0
    assert up.survivors() == []


@pytest.mark.parametrize("options", [[], ["--grandchild"], ["--ignore-sigterm"]])
def test_nothing_outlives_a_killed_supervisor(
    start: Start, journal: Journal, options: list[str]
) -> None:
    # They end when they are asked, if they do, however long a busy machine takes for that.
    killed_after_s = 1 if options else HUNG_AFTER_S
    up = start(FIRST, {**SECOND, "options": options}, guard_kills_after_s=killed_after_s)
    up.wait_for("READY")
    up.signal(signal.SIGKILL)
    up.wait_for_none_left()
    if not options:
        # They were asked, and not just killed.
        assert sorted(journal.events("stopped")) == ["first stopped", "second stopped"]


def test_nothing_outlives_a_killed_supervisor_without_its_guard(start: Start) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux tells a process that its parent died")
    up = start(FIRST, SECOND)
    up.wait_for("READY")
    for guard in up.processes("headwater.processes.guard"):
        guard.kill()
    up.signal(signal.SIGKILL)
    up.wait_for_none_left()


def test_a_guard_that_died_is_replaced(start: Start, journal: Journal) -> None:
    up = start(FIRST)
    up.wait_for("READY")
    (guard,) = up.processes("headwater.processes.guard")
    guard.kill()
    os.kill(journal.pids("first")[0], signal.SIGKILL)
    up.wait_for("first is healthy again")
    (replaced,) = up.processes("headwater.processes.guard")
    assert replaced.pid != guard.pid
    up.signal(signal.SIGTERM)
    assert up.wait() == 0
    assert up.survivors() == []
