"""Paths of other file systems are read and written through Spark's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.spark_session import spark

from headwater.spark.hadoop_path import HadoopPath

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

__all__ = ["spark"]


def test_files_of_a_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    folder = HadoopPath(f"file://{tmp_path}/a checkpoint/")
    folder.mkdir()
    file = folder / "app.txt"
    assert not file.exists()
    for text in ("first", "größer"):
        file.write_whole(text)
        assert file.read_text("utf-8") == text
    assert (tmp_path / "a checkpoint" / "app.txt").read_text("utf-8") == "größer"
    for number in (1, 22):
        (folder / "queries/q/offsets").mkdir()
        (folder / f"queries/q/offsets/{number}").write_whole("")
    names = {path.name for path in folder.glob("queries/*/offsets/*")}
    assert names == {"1", "22"}
    assert [path.name for path in folder.glob("commits/*")] == []
    file.unlink()
    (folder / "queries").remove_tree()
    assert not any((tmp_path / "a checkpoint").glob("[!.]*"))
