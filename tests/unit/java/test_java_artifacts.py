"""Libraries by coordinates: from a repository, once, whole or not at all, with errors that help."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.unit.java.maven_repository import MavenRepository
from tests.waiting import wait_for

from headwater.java.artifacts import ArtifactError, cache_directory, fetch, fetch_first

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LIST = ("com.example:left:1.0", "com.example.deep:right_2.13:2.1-beta")
LEFT = "com/example/left/1.0/left-1.0.jar"
RIGHT = "com/example/deep/right_2.13/2.1-beta/right_2.13-2.1-beta.jar"


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MavenRepository]:
    with MavenRepository() as served:
        monkeypatch.setenv("HEADWATER_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("HEADWATER_MAVEN_REPOSITORY", f"{served.address}/")
        yield served


def cached(directory: Path) -> list[str]:
    return sorted(each.name for each in directory.iterdir() if not each.name.endswith(".lock"))


def test_a_list_is_fetched_once(
    repository: MavenRepository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.add(LEFT, b"left")
    repository.add(RIGHT, b"right")
    jars = fetch("pair", LIST, transitive=False)
    assert [jar.read_bytes() for jar in jars] == [b"left", b"right"]
    assert [jar.name for jar in jars] == ["left-1.0.jar", "right_2.13-2.1-beta.jar"]
    assert jars[0].parent.parent == cache_directory()
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "Fetching pair by its Maven coordinates into " in told
    asked = len(repository.asked)
    assert fetch("pair", LIST, transitive=False) == jars
    assert len(repository.asked) == asked
    assert capsys.readouterr().err == ""


def test_another_list_is_another_directory(repository: MavenRepository) -> None:
    repository.add(LEFT, b"left")
    repository.add(RIGHT, b"right")
    (left,) = fetch("libraries", LIST[:1], transitive=False)
    (right,) = fetch("libraries", LIST[1:], transitive=False)
    assert left.parent != right.parent


def test_the_first_that_can_be_had(
    repository: MavenRepository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.add(LEFT, b"left")
    choices = ["com.example:left:2.0", "com.example:left:1.0"]
    jar = fetch_first("left", choices)
    assert (jar.name, jar.read_bytes()) == ("left-1.0.jar", b"left")
    told = "com.example:left:2.0 could not be had, so it is com.example:left:1.0"
    assert told in capsys.readouterr().err
    repository.add(LEFT.replace("1.0", "2.0"), b"newer")
    asked = len(repository.asked)
    assert fetch_first("left", choices) == jar
    assert len(repository.asked) == asked
    assert capsys.readouterr().err == ""
    # Another list is asked for anew.
    assert fetch_first("left", [*choices, "com.example:left:0.9"]).read_bytes() == b"newer"
    with pytest.raises(ArtifactError, match=r"com\.example:left:3\.1"):
        fetch_first("left", ["com.example:left:3.0", "com.example:left:3.1"])


def test_what_the_repository_lacks_is_named(repository: MavenRepository) -> None:
    repository.add(LEFT, b"left")
    with pytest.raises(ArtifactError, match=r"does not have com\.example\.deep:right_2\.13:2\.1"):
        fetch("pair", LIST, transitive=False)
    assert cached(cache_directory()) == []
    repository.add(RIGHT, b"right")
    assert len(fetch("pair", LIST, transitive=False)) == 2


def test_damage_on_the_way_is_noticed(repository: MavenRepository) -> None:
    repository.add(LEFT, b"left", checksum="0" * 40)
    with pytest.raises(ArtifactError, match=r"com\.example:left:1\.0 arrived damaged"):
        fetch("pair", LIST[:1], transitive=False)
    assert cached(cache_directory()) == []


def test_an_unreachable_repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HEADWATER_CACHE", str(tmp_path))
    monkeypatch.setenv("HEADWATER_MAVEN_REPOSITORY", "http://127.0.0.1:1/mirror")
    with pytest.raises(ArtifactError, match=r"left:1\.0 .*Connection refused.*HTTPS_PROXY"):
        fetch("pair", LIST[:1], transitive=False)


def test_without_maven_nothing_is_found_by_others(repository: MavenRepository) -> None:
    with pytest.raises(ArtifactError, match="mvn is not installed"):
        fetch("pair", LIST, transitive=True)


@pytest.mark.parametrize("text", ["left:1.0", "com.example:left:", "a:b:c:d", "../a:b:1"])
def test_what_is_no_coordinate(text: str) -> None:
    with pytest.raises(ArtifactError, match="no coordinate of the form"):
        fetch("wrong", [text], transitive=False)


def test_two_processes_fetch_it_once(repository: MavenRepository) -> None:
    repository.add(LEFT, b"left")
    repository.may_answer.clear()
    program = (
        "from headwater.java.artifacts import fetch;"
        f"print(fetch('pair', {LIST[:1]!r}, transitive=False)[0].read_text())"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    wait_for(lambda: repository.asked or any(each.poll() is not None for each in both))
    assert repository.asked
    repository.may_answer.set()
    assert [each.communicate()[0] for each in both] == ["left\n", "left\n"]
    assert len(repository.asked) == 2  # the jar and its checksum
