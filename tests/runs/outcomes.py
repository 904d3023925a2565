"""What became of each test of a run: written to one file, for whoever runs some of them again."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

FILE = Path(".pytest_cache") / "outcomes.json"
# Names another file, so that a run of a few tests does not take the place of one of all.
VARIABLE = "HEADWATER_OUTCOMES"


class Outcome(NamedTuple):
    """How long a test took, with set-up and tear-down, and its first failure if there is one."""

    test: str
    seconds: float
    failure: str = ""


def read(file: Path = FILE) -> list[Outcome]:
    """Return what the last run wrote; nothing, if it did not come so far."""
    if not file.exists():
        return []
    return [Outcome(**each) for each in json.loads(file.read_text())]


def pytest_configure(config: pytest.Config) -> None:
    # With xdist, whoever distributes the tests hears of all of them, and writes alone.
    if not hasattr(config, "workerinput"):
        file = config.rootpath / os.environ.get(VARIABLE, FILE)
        config.pluginmanager.register(_Recorder(file), "outcomes-recorder")


class _Recorder:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._outcomes: dict[str, Outcome] = {}

    def pytest_sessionstart(self) -> None:
        # What an earlier run wrote must not be taken for this one's.
        self._file.unlink(missing_ok=True)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note(report.nodeid, report.duration, _failure(report))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._note(report.nodeid, 0.0, _failure(report))

    def pytest_sessionfinish(self) -> None:
        self._file.parent.mkdir(exist_ok=True)
        told = [outcome._asdict() for outcome in self._outcomes.values()]
        self._file.write_text(json.dumps(told, indent=1))

    def _note(self, test: str, seconds: float, failure: str) -> None:
        before = self._outcomes.get(test, Outcome(test, 0.0))
        self._outcomes[test] = Outcome(
            test, round(before.seconds + seconds, 3), before.failure or failure
        )


def _failure(report: pytest.TestReport | pytest.CollectReport) -> str:
    if not report.failed:
        return ""
    said: Sequence[tuple[str, str]] = report.sections
    return "\n".join([report.longreprtext, *(f"--- {name}\n{text}" for name, text in said)])
