"""The plant as `make run` shows it: measurements in, alerts, units, averages and short runs out."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest
from tests.processes import wait_until_ended

ROOT = Path(__file__).parents[2]
# Spark's start is slow where four other workers have the machine as well.
HUNG_AFTER_S = 240.0


def start(tmp_path: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "examples.plant", *options],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.timeout(HUNG_AFTER_S + 60)
def test_the_plant_until_ctrl_c(tmp_path: Path) -> None:
    plant = start(tmp_path, "--seed", "9")
    killer = threading.Timer(HUNG_AFTER_S, plant.kill)
    killer.start()
    children: list[psutil.Process] = []
    lines: list[str] = []
    wanted = {"alerts: ", "measurements-with-units: ", "short-runs: "}
    assert plant.stdout is not None
    try:
        for line in plant.stdout:
            lines.append(line)
            wanted = {each for each in wanted if not line.startswith(each)}
            if not wanted and not children:
                children = psutil.Process(plant.pid).children(recursive=True)
                plant.send_signal(signal.SIGINT)
        code = plant.wait(HUNG_AFTER_S)
    finally:
        killer.cancel()
        plant.kill()
    text = "".join(lines)
    assert code == 0, text
    assert "Traceback" not in text
    assert not wanted, f"never seen: {wanted}\n{text}"
    units = re.search(r"^measurements-with-units: (.*)$", text, re.MULTILINE)
    assert units is not None
    assert re.search(r"unit=\S+, place=\S+", units[1]), units[1]
    found = re.search(r"(\d+) measurements sent\. First result ([\d.]+) s after", text)
    assert found is not None, text
    assert int(found[1]) > 0
    assert children
    wait_until_ended(each.pid for each in children)
    assert [*tmp_path.iterdir()] == [], "left in the temporary directory"


def test_the_plant_ends_by_itself(tmp_path: Path) -> None:
    plant = start(tmp_path, "--seconds", "1")
    out, _ = plant.communicate(timeout=HUNG_AFTER_S)
    assert plant.returncode == 0, out
    assert "measurements sent" in out
    assert "Traceback" not in out
    assert [*tmp_path.iterdir()] == [], "left in the temporary directory"
