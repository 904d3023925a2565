"""Fixtures for every test: brokers as processes, topic names, and what a test needs installed."""

from __future__ import annotations

import os
import re
import shutil
import sys
import uuid
from typing import TYPE_CHECKING, Protocol

import pytest
from hypothesis import HealthCheck, settings
from tests.broker_process import BrokerProcess
from tests.effort import often
from tests.server_process import ServerProcess

from headwater.spark.class_archive import SHORT_LIVED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

pytest_plugins = ["tests.runs.garbage", "tests.runs.outcomes", "tests.runs.schedule"]

# Tests start hundreds of Python processes. Where Python is told not to keep what it compiles,
# each of them compiles Headwater anew, and each worker all tests: minutes, in all.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Spark's JVMs live too short a life here to earn back what the optimising compiler costs them:
# with the quick one alone they need less than half the time. It would have a fifth of the usual
# room for what it compiles, which the queries of many tests fill: then the JVM ends.
os.environ.setdefault("SPARK_SUBMIT_OPTS", " ".join(SHORT_LIVED))

# A busy machine is no failure, and CI looks at the same examples each time: new ones are found,
# and fixed, where somebody is there to do so.
settings.register_profile(
    "headwater",
    max_examples=often(50, in_soak=500),
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("headwater")


class StartBroker(Protocol):
    """Starts a broker of the test's own; it is stopped, cleanly, when the test ends."""

    def __call__(
        self, properties: Mapping[str, str] | None = None, *, data_dir: Path | None = None
    ) -> BrokerProcess: ...


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """A broker with default settings, shared by the tests of one module."""
    process = BrokerProcess(tmp_path_factory.mktemp("broker") / "data").start()
    yield process
    process.stop()


@pytest.fixture
def start_broker(tmp_path: Path) -> Iterator[StartBroker]:
    """A factory for brokers with properties of their own, which a test may restart or kill."""
    mine: list[BrokerProcess] = []

    def start(
        properties: Mapping[str, str] | None = None, *, data_dir: Path | None = None
    ) -> BrokerProcess:
        process = BrokerProcess(data_dir or tmp_path / f"broker-{len(mine)}", properties)
        mine.append(process)
        return process.start()

    yield start
    for process in mine:
        if process.running:
            process.stop()


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A topic name that no other test uses and that says which test it belongs to."""
    name = re.sub(r"[^a-zA-Z0-9._-]+", "-", request.node.name)[:100].strip("-")
    return f"{name}-{uuid.uuid4().hex[:8]}"


@pytest.fixture(scope="session", autouse=True)
def nothing_left_running() -> Iterator[None]:
    """No test may leave a broker or a registry behind."""
    yield
    survivors = [process for process in ServerProcess.started if process.running]
    for process in survivors:
        process.kill()
    assert not survivors, f"left running: {survivors}"


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs"):
        for program in marker.args:
            if shutil.which(program) is None:
                unmet(f"{program} is not installed")


def unmet(reason: str) -> None:
    """Skip, since this machine lacks something; where nothing may be skipped, fail."""
    if os.environ.get("HEADWATER_REQUIRE_ALL") == "1":
        pytest.fail(f"{reason}, and HEADWATER_REQUIRE_ALL=1 allows no skipping")
    pytest.skip(reason)
