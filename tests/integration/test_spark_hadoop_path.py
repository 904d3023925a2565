"""Paths of other file systems are read and written through Spark's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
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


@pytest.mark.parametrize("mode", [0o750, 0o755, 0o1777])
def test_files_of_this_machine_have_the_permissions_that_hadoop_gives_them(
    spark: SparkSession, tmp_path: Path, mode: int
) -> None:
    context: Any = spark.sparkContext
    hadoop, conf = context._jvm.org.apache.hadoop.fs, context._jsc.hadoopConfiguration()
    ours = hadoop.FileSystem.newInstance(hadoop.Path("file:///").toUri(), conf)
    assert ours.getClass().getName() == "io.headwater.files.LocalFiles"
    conf.set("fs.file.impl", "org.apache.hadoop.fs.LocalFileSystem")
    try:
        theirs = hadoop.FileSystem.newInstance(hadoop.Path("file:///").toUri(), conf)
    finally:
        conf.set("fs.file.impl", ours.getClass().getName())
    found = []
    for files in (theirs, ours):
        folder = tmp_path / files.getClass().getSimpleName()
        permission = hadoop.permission.FsPermission(mode)
        files.mkdirs(hadoop.Path(f"file://{folder}"))
        files.setPermission(hadoop.Path(f"file://{folder}"), permission)
        files.create(hadoop.Path(f"file://{folder}/file")).close()
        files.setPermission(hadoop.Path(f"file://{folder}/file"), permission)
        paths = (folder, folder / "file", folder / ".file.crc")
        found.append([path.stat().st_mode for path in paths])
    assert found[0] == found[1]
    assert found[1][0] & 0o7777 == mode
