"""A child process: its lines, its end, its group, and what is left when its parent was killed."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from tests.processes import runs, wait_until_ended
from tests.waiting import wait_for

from headwater.processes.child import ChildProcess, describe_exit
from headwater.processes.guard import Guard

if TYPE_CHECKING:
    from pathlib import Path

READY_WITHIN_S = 60.0
WAITS = "import time; print('ready 7', flush=True); time.sleep(600)"
DEAF = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {WAITS}"
# Prints the number of a process that it leaves behind.
LEAVES = (
    "import subprocess, sys;"
    "left = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
    "print('left', left.pid, flush=True)"
)
# A parent that starts a child under a guard and says which.
PARENT = """
import sys, time
from headwater.processes.child import ChildProcess
from headwater.processes.guard import Guard
guard = Guard(kills_after_s=1)
child = ChildProcess([sys.executable, "-c", sys.argv[1]], guard=guard, ready="ready")
child.wait_until_ready(60)
print(child.pid, flush=True)
time.sleep(600)
"""


def python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


def test_lines_are_handed_over_and_the_last_ones_kept() -> None:
    lines: list[str] = []
    codes: list[int] = []
    over = threading.Event()

    def end(code: int) -> None:
        codes.append(code)
        over.set()

    program = "import sys; print(*range(100), sep='\\n'); sys.stderr.write('last'); sys.exit(3)"
    child = ChildProcess(python(program), on_lines=lines.extend, on_end=end)
    assert child.wait() == 3
    assert not child.running
    assert lines == [*map(str, range(100)), "last"]
    assert child.last_lines == "\n".join(lines[-50:])
    assert over.wait(READY_WITHIN_S)
    assert codes == [3]


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(FileNotFoundError):
        ChildProcess(["/no/such/program"])


def test_ready_is_what_it_says() -> None:
    with ChildProcess(python(WAITS), ready=r"ready (\d)") as child:
        said = child.wait_until_ready(READY_WITHIN_S)
        assert said is not None
        assert said[1] == "7"
        assert runs(child.pid)
    assert not child.running
    assert child.wait() == -signal.SIGTERM


def test_one_that_ends_is_never_ready() -> None:
    child = ChildProcess(python("print('no')"), ready="ready")
    assert child.wait_until_ready(READY_WITHIN_S) is None
    assert (child.wait(), child.last_lines) == (0, "no")


def test_output_to_a_file(tmp_path: Path) -> None:
    with (tmp_path / "output").open("wb") as output:
        child = ChildProcess(
            python("import os; print(os.getcwd(), os.environ['TOLD'])"),
            output=output,
            directory=tmp_path,
            environment={"TOLD": "this"},
        )
    assert child.wait() == 0
    assert (tmp_path / "output").read_text() == f"{tmp_path} this\n"


def test_one_that_does_not_listen_is_killed() -> None:
    child = ChildProcess(python(DEAF), ready="ready")
    assert child.wait_until_ready(READY_WITHIN_S)
    with pytest.raises(TimeoutError):
        child.wait(0.01)
    assert child.stop(within_s=0.05) == -signal.SIGKILL
    assert child.was_killed


def test_what_it_leaves_behind_is_ended() -> None:
    child = ChildProcess(python(LEAVES))
    assert child.wait() == 0
    (line,) = child.tail
    wait_until_ended([int(line.split()[1])])


@pytest.mark.parametrize("program", [WAITS, DEAF])
def test_nothing_outlives_a_killed_parent(program: str) -> None:
    with subprocess.Popen([*python(PARENT), program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert runs(pid)
        parent.kill()
    wait_until_ended([pid])


def test_a_guard_that_was_killed_is_replaced() -> None:
    with Guard(kills_after_s=1) as guard:
        first = guard.pid
        with ChildProcess(python(WAITS), guard=guard):
            subprocess.run(["kill", "-9", str(first)], check=True)
            wait_for(lambda: not runs(first))
            with ChildProcess(python(WAITS), guard=guard):
                assert guard.pid != first
                assert runs(guard.pid)


def test_how_it_ended() -> None:
    assert describe_exit(-signal.SIGKILL) == "SIGKILL"
    assert describe_exit(-64 - 5) == "signal 69"
