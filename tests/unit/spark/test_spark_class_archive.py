"""The archive of Spark's classes: used where it is, made once, and never in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.spark import class_archive
from headwater.spark.class_archive import ArchiveError, archive_options, is_made, make_archive
from headwater.spark.session import session_settings

if TYPE_CHECKING:
    from pathlib import Path

WRITES_ARCHIVE = """
import os, pathlib, re
option = re.search(r"-XX:ArchiveClassesAtExit=(\\S+)", os.environ["SPARK_SUBMIT_OPTS"])
pathlib.Path(option[1]).write_text("classes")
"""


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    jar = tmp_path / "some.jar"
    jar.touch()
    path = tmp_path / "environment" / "spark-classes.jsa"
    path.parent.mkdir()
    monkeypatch.setattr(class_archive, "ARCHIVE", path)
    monkeypatch.setattr(class_archive, "_MADE_FOR", path.with_suffix(".txt"))
    monkeypatch.setattr(class_archive, "session_jars", lambda: (jar,))
    return path


def test_a_session_uses_it_once_it_is_made(archive: Path) -> None:
    assert not is_made()
    assert archive_options() == ()
    assert make_archive(["-c", WRITES_ARCHIVE])
    assert archive.read_text() == "classes"
    assert is_made()
    java_options = session_settings(folder=archive.parent)["spark.driver.extraJavaOptions"]
    assert f"-XX:SharedArchiveFile={archive} " in java_options


def test_another_jar_needs_another_one(archive: Path) -> None:
    make_archive(["-c", WRITES_ARCHIVE])
    (archive.parents[1] / "some.jar").write_text("another")
    assert not is_made()


def test_a_java_that_makes_none_is_not_asked_again(archive: Path) -> None:
    assert not make_archive(["-c", "pass"])
    assert is_made()
    assert archive_options() == ()


def test_what_fails_says_so_and_leaves_nothing(archive: Path) -> None:
    archive.write_text("of another Spark")
    with pytest.raises(ArchiveError, match="has failed"):
        make_archive(["-c", "raise SystemExit(1)"])
    assert [*archive.parent.iterdir()] == []
    archive.parent.rmdir()
    with pytest.raises(ArchiveError, match=r"cannot be written \(No such file or directory\)"):
        make_archive(["-c", "pass"])
