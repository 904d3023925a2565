"""What failed is run once more, alone: what passes then is flaky, and no more than two may be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.runs import outcomes

ROOT = Path(__file__).parents[3]

FLAKY = """
from pathlib import Path
import pytest

@pytest.mark.parametrize("number", range({count}))
def test_flaky(number):
    ran = Path(f"ran-{{number}}")
    was_there = ran.exists()
    ran.touch()
    assert was_there, f"the first time of {{number}}"
"""
BROKEN = """
def test_broken():
    assert False, "each time"
"""
WELL = """
def test_well():
    pass
"""


ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(ROOT),
    "PYTEST_PLUGINS": "tests.runs.outcomes",
    # To import all that are installed takes longer than these tests.
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
}


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )


def first_run(folder: Path, *tests: str, workers: int = 0) -> subprocess.CompletedProcess[str]:
    for number, text in enumerate(tests):
        (folder / f"test_{number}.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    side_by_side = ("-p", "xdist.plugin", "-n", str(workers)) if workers else ()
    return run(folder, "pytest", "-q", *side_by_side)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_flaky_test_is_told_with_its_first_failure(tmp_path: Path, workers: int) -> None:
    assert first_run(tmp_path, FLAKY.format(count=2), WELL, workers=workers).returncode == 1
    again = run(tmp_path, "tests.runs.again")
    assert again.returncode == 0, again.stdout
    assert "FLAKY: test_0.py::test_flaky[1]" in again.stdout
    assert "the first time of 1" in again.stdout
    assert "test_well" not in again.stdout


def test_what_fails_again_is_a_failure(tmp_path: Path) -> None:
    first_run(tmp_path, FLAKY.format(count=1), BROKEN)
    again = run(tmp_path, "tests.runs.again")
    assert again.returncode == 1
    assert "1 passed (FLAKY), 1 failed again" in again.stdout
    assert "each time" in again.stdout


def test_more_than_two_flaky_tests_are_a_failure(tmp_path: Path) -> None:
    first_run(tmp_path, FLAKY.format(count=3))
    again = run(tmp_path, "tests.runs.again")
    assert again.returncode == 1
    assert "3 passed (FLAKY), 0 failed again" in again.stdout


def test_many_failures_are_not_run_again(tmp_path: Path) -> None:
    first_run(tmp_path, FLAKY.format(count=11))
    again = run(tmp_path, "tests.runs.again")
    assert again.returncode == 1
    assert "11 tests failed, too many to be flaky" in again.stdout


def test_a_run_that_failed_before_its_tests_is_a_failure(tmp_path: Path) -> None:
    assert run(tmp_path, "tests.runs.again").returncode == 1
    first_run(tmp_path, "import nothing_of_this_name")
    again = run(tmp_path, "tests.runs.again")
    assert again.returncode == 1
    assert "nothing_of_this_name" in again.stdout


def test_a_run_that_is_well_leaves_no_old_failures(tmp_path: Path) -> None:
    first_run(tmp_path, BROKEN)
    assert [each.test for each in outcomes.read(tmp_path / outcomes.FILE) if each.failure]
    first_run(tmp_path, WELL)
    assert not [each for each in outcomes.read(tmp_path / outcomes.FILE) if each.failure]
