"""The plant killed with SIGKILL: whatever it has started ends as well."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
from tests.processes import wait_until_ended
from tests.waiting import wait_for

ROOT = Path(__file__).parents[2]


def test_nothing_outlives_a_killed_plant(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "examples.plant"],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as plant:
        below = psutil.Process(plant.pid)

        def commands() -> set[str]:
            found: set[str] = set()
            for child in below.children(recursive=True):
                with suppress(psutil.NoSuchProcess):  # it has ended meanwhile
                    found.update(child.cmdline())
            return found

        try:
            wait_for(lambda: {"up", "broker", "registry", "run"} <= commands())
            started = [child.pid for child in below.children(recursive=True)]
        finally:
            plant.kill()
    wait_until_ended(started)
