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
from tests.server_process import ServerProcess

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from xdist.remote import Producer
    from xdist.scheduler import LoadScopeScheduling

# Tests start hundreds of Python processes. Where Python is told not to keep what it compiles,
# each of them compiles Headwater anew, and each worker all tests: minutes, in all.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Spark's JVMs live too short a life here to earn back what the optimising compiler costs them:
# with the quick one alone they need less than half the time.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

# A busy machine is no failure, and CI looks at the same examples each time: new ones are found,
# and fixed, where somebody is there to do so.
settings.register_profile(
    "headwater",
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


# Files that start JVMs fill a small machine by themselves. Those of one name run one after the
# other in one worker, and first of all, since they take longest.
_HEAVY = {
    "kafka": (
        "tests/cluster/",
        "tests/differential/",
        "tests/integration/test_cli_secured.py",
        "tests/integration/test_cluster_",
        "tests/integration/test_registry_apache_kafka.py",
        "tests/integration/test_up_kafka.py",
    ),
    "spark": (
        "tests/chaos/test_spark_",
        "tests/integration/test_docs_pipelines.py",
        "tests/integration/test_plant.py",
        "tests/integration/test_spark_",
        "tests/integration/test_streams_",
    ),
}

# Files that take half a minute or more without a JVM. At the end they would keep one worker busy
# while the others have nothing left to do.
_LONG = (
    "tests/chaos/",
    "tests/integration/test_quotas_throttling.py",
    "tests/integration/test_registry_instances.py",
    "tests/integration/test_up_platform_process.py",
    "tests/unit/protocol/test_protocol_fuzz.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: (_group(item.nodeid) not in _HEAVY, not _is_long(item.nodeid)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Keep the tests of a file in one worker, and those together that use the same engine."""
    from xdist.scheduler import LoadScopeScheduling

    class ByEngine(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return _group(nodeid)

    return ByEngine(config, log)


def _group(nodeid: str) -> str:
    file = nodeid.partition("::")[0]
    return next((name for name, files in _HEAVY.items() if file.startswith(files)), file)


def _is_long(nodeid: str) -> bool:
    return nodeid.startswith(_LONG)


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
