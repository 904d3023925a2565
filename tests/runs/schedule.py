"""Which tests share a worker, and in which order they run, so that a run ends early.

Tests of one file share a worker, as they share a broker. Files that start JVMs fill a small machine
by themselves: they are gathered into a few groups, each of which runs one after the other in one
worker. What takes longest comes first, by the durations that an earlier run has recorded, so that
no worker is left alone with it at the end.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.runs import durations

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from xdist.remote import Producer
    from xdist.scheduler import LoadScopeScheduling

_KAFKA = (
    "tests/cluster/",
    "tests/differential/",
    "tests/integration/test_cluster_",
    "tests/integration/test_registry_apache_kafka.py",
    "tests/integration/test_up_kafka.py",
)
_SPARK = (
    "tests/chaos/test_spark_",
    "tests/differential/test_differential_connect.py",
    "tests/differential/test_differential_streams.py",
    "tests/integration/test_cli_secured.py",
    "tests/integration/test_docs_pipelines.py",
    "tests/integration/test_examples",
    "tests/integration/test_plant.py",
    "tests/integration/test_spark_",
    "tests/integration/test_streams_",
)
# Whoever imports one of these runs Spark as well, whatever it is called.
_SPARK_MODULES = ("from tests.spark_session ", "from tests.connect_process ")
# They share a platform and a browser.
_CONSOLE = "tests/integration/console/"
# They share a SQL server.
_SQL = "tests/integration/sql/"
# Each has a JVM of its own for as long as it runs.
_SPARK_GROUPS = ("spark-1", "spark-2", "spark-3")
# What a file of Spark's tests takes that no run has recorded yet.
_NEW_SPARK_FILE_S = 30.0
ROOT = Path(__file__).parents[2]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    files = sorted({_file(item.nodeid) for item in items})
    seconds = _seconds_of_groups(files)
    items.sort(key=lambda item: -seconds[group_of(_file(item.nodeid))])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Keep the tests of a group in one worker."""
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return group_of(_file(nodeid))

    return ByGroup(config, log)


def group_of(file: str) -> str:
    """Return the name that all files have in common which run one after the other."""
    if (group := spark_groups().get(file)) is not None:
        return group
    if file.startswith(_KAFKA):
        return "kafka"
    if file.startswith(_CONSOLE):
        return "console"
    if file.startswith(_SQL):
        return "sql"
    return file


def shared_out(seconds: Mapping[str, float]) -> dict[str, str]:
    """Share files out to Spark's groups: the longest first, each to the one with least to do."""
    busy = dict.fromkeys(_SPARK_GROUPS, 0.0)
    groups: dict[str, str] = {}
    for file in sorted(seconds, key=lambda each: -seconds[each]):
        groups[file] = min(busy, key=lambda name: busy[name])
        busy[groups[file]] += seconds[file]
    return groups


@cache
def spark_groups() -> dict[str, str]:
    """Return the group of each file that runs Spark, those included that are not recorded yet."""
    recorded = durations.recorded()
    files = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("tests/*/test_*.py"))
    return shared_out(
        {file: recorded.get(file, _NEW_SPARK_FILE_S) for file in files if _runs_spark(file)}
    )


def _runs_spark(file: str) -> bool:
    if file.startswith(_SPARK):
        return True
    text = (ROOT / file).read_text()
    return any(module in text for module in _SPARK_MODULES)


def _seconds_of_groups(files: Iterable[str]) -> dict[str, float]:
    seconds: dict[str, float] = {}
    for file in files:
        group = group_of(file)
        seconds[group] = seconds.get(group, 0.0) + durations.expected(file)
    return seconds


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]
