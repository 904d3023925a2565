"""The session's settings for machines of different sizes."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.spark.jars import S3A, S3A_SETTINGS, file_system_jars, file_system_settings
from headwater.spark.session import LOG_VARIABLE, available_gb, session_settings

if TYPE_CHECKING:
    import pytest


def test_a_small_machine_gets_a_small_driver() -> None:
    small = session_settings(cores=2, memory_gb=4)
    large = session_settings(cores=16, memory_gb=64)
    assert small["spark.driver.memory"] == "1g"
    assert large["spark.driver.memory"] == "2g"
    assert small["spark.sql.shuffle.partitions"] == large["spark.sql.shuffle.partitions"] == "2"
    assert large["spark.default.parallelism"] == "16"


def test_a_container_has_what_it_may_use(tmp_path: Path) -> None:
    whole = available_gb([])
    limit = tmp_path / "memory.max"
    limit.write_text(f"{1 << 29}\n")
    assert available_gb([tmp_path / "missing", limit]) == 0.5
    limit.write_text("max\n")
    assert available_gb([limit]) == whole > 0.5


def test_jars_go_to_the_class_path_here_and_to_executors_elsewhere() -> None:
    jars = [Path("a.jar"), Path("b.jar")]
    local = session_settings(jars=jars)
    assert local["spark.driver.extraClassPath"] == "a.jar:b.jar"
    assert local["spark.hadoop.fs.file.impl"] == "io.headwater.files.LocalFiles"
    remote = session_settings(jars=jars, master="spark://cluster:7077")
    assert remote["spark.jars"] == "a.jar,b.jar"
    assert "spark.driver.bindAddress" not in remote
    assert "spark.hadoop.fs.file.impl" not in remote


def test_the_log_can_be_made_to_speak(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "headwater.log=" not in session_settings()["spark.driver.extraJavaOptions"]
    monkeypatch.setenv(LOG_VARIABLE, "info")
    assert "-Dheadwater.log=info" in session_settings()["spark.driver.extraJavaOptions"]


def test_s3a_is_there_where_settings_speak_of_it() -> None:
    assert file_system_jars({"spark.ui.enabled": "false"}) == ()
    assert file_system_settings(Path("/srv")) == {}
    assert any(name.startswith(S3A_SETTINGS) for name in file_system_settings("s3a://b/c"))
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    (hadoop,) = (Path(spec.origin).parent / "jars").glob("hadoop-client-api-*.jar")
    own = hadoop.stem.removeprefix("hadoop-client-api-")
    assert f"org.apache.hadoop:hadoop-aws:{own}" in S3A, "S3A has to be of Spark's own Hadoop"
