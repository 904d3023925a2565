"""Looks for flaky tests: repeats those that wait for something, under load, until told to stop.

`make flaky` repeats every file that waits; `make flaky TESTS=tests/integration/test_up.py` some.
Ctrl-C ends it with a list of what failed how often, and the first failure of each.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.runs.pytest_run import SIDE_BY_SIDE, run_pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

# How a test waits for what others do in their own time.
_WAITS = ("tests.waiting", ".says(", "wait_for(")
_BUSY = "while True: pass"


def main() -> int:
    """Repeat until Ctrl-C, or until the time is over; returns whether something failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no round after")
    parser.add_argument("tests", nargs="*")
    options = parser.parse_args()
    tests = options.tests or _that_wait()
    ends = time.monotonic() + options.seconds
    failures: dict[str, list[str]] = {}
    rounds = 0
    try:
        with _load():
            while time.monotonic() < ends:
                rounds += 1
                passed, failed = run_pytest(*SIDE_BY_SIDE, *tests)
                for each in failed:
                    failures.setdefault(each.test, []).append(each.failure)
                print(f"round {rounds}: {len(passed)} passed, {len(failed)} failed", flush=True)
    except KeyboardInterrupt:
        print("\nstopped")
    for test, told in sorted(failures.items(), key=lambda pair: -len(pair[1])):
        print(f"\n{'=' * 20} failed {len(told)} of {rounds} times: {test}\n{told[0]}")
    print(f"\n{rounds} rounds, {len(failures)} flaky tests")
    return int(bool(failures))


def _that_wait() -> list[str]:
    files = sorted(Path("tests").rglob("test_*.py"))
    return [str(file) for file in files if any(word in file.read_text() for word in _WAITS)]


@contextmanager
def _load() -> Iterator[None]:
    """Keep every core busy meanwhile."""
    command = [sys.executable, "-c", _BUSY]
    busy = [subprocess.Popen(command) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
