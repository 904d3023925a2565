"""Spark's tests are shared out evenly, and what takes longest comes first."""

from __future__ import annotations

from tests.runs import durations, schedule
from tests.runs.outcomes import Outcome


def test_the_seconds_of_a_file_are_those_of_its_tests() -> None:
    told = [Outcome("a.py::one", 1.25), Outcome("b.py::one", 4.0), Outcome("a.py::two[x::y]", 2.0)]
    assert durations.by_file(told) == {"b.py": 4.0, "a.py": 3.2}
    assert list(durations.by_file(told)) == ["b.py", "a.py"]


def test_spark_is_shared_out_evenly_by_what_was_recorded() -> None:
    groups = schedule.shared_out({"a": 100.0, "b": 60.0, "c": 50.0, "d": 30.0})
    assert groups == {"a": "spark-1", "b": "spark-2", "c": "spark-3", "d": "spark-3"}


def test_files_with_jvms_share_a_worker_and_others_have_their_own() -> None:
    assert schedule.group_of("tests/cluster/test_x.py") == "kafka"
    assert schedule.group_of("tests/integration/test_streams_new.py").startswith("spark-")
    assert schedule.group_of("tests/unit/log/test_x.py") == "tests/unit/log/test_x.py"
