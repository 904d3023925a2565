"""Spark's tests are shared out evenly, and what takes longest comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.runs import durations, schedule
from tests.runs.outcomes import Outcome

if TYPE_CHECKING:
    import pytest


def test_the_seconds_of_a_file_are_those_of_its_tests() -> None:
    told = [Outcome("a.py::one", 1.25), Outcome("b.py::one", 4.0), Outcome("a.py::two[x::y]", 2.0)]
    assert durations.by_file(told) == {"b.py": 4.0, "a.py": 3.2}
    assert list(durations.by_file(told)) == ["b.py", "a.py"]


def test_spark_is_shared_out_evenly_by_what_was_recorded() -> None:
    groups = schedule.shared_out({"a": 100.0, "b": 60.0, "c": 50.0, "d": 30.0})
    assert groups == {"a": "spark-1", "b": "spark-2", "c": "spark-3", "d": "spark-3"}


def test_files_with_jvms_share_a_worker_and_others_have_their_own() -> None:
    assert schedule.group_of("tests/cluster/test_x.py") == "kafka"
    assert schedule.group_of("tests/unit/log/test_x.py") == "tests/unit/log/test_x.py"


def test_files_that_share_a_server_share_a_worker() -> None:
    for folder in ("console", "sql"):
        files = [*(schedule.ROOT / "tests" / "integration" / folder).glob("test_*.py")]
        assert len(files) > 1, folder
        names = {schedule.group_of(file.relative_to(schedule.ROOT).as_posix()) for file in files}
        assert names == {folder}


def test_files_that_run_spark_are_known_by_name_or_by_what_they_import() -> None:
    for name in ("streams_run", "examples", "sql_on_spark", "connect_killed"):
        file = f"tests/integration/test_{name}.py"
        assert (schedule.ROOT / file).exists()
        assert schedule.group_of(file).startswith("spark-"), file


def test_new_files_of_spark_are_shared_out_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    # Before any run was recorded they would all be in one group otherwise, which ends last.
    monkeypatch.setattr(durations, "recorded", dict)
    schedule.spark_groups.cache_clear()
    try:
        files = [*schedule.spark_groups()]
        groups = [schedule.group_of(file) for file in files]
    finally:
        schedule.spark_groups.cache_clear()
    counts = [groups.count(name) for name in sorted({*groups})]
    assert len(counts) == 3
    assert max(counts) - min(counts) <= 1
