"""Libraries through the resolver that comes with PySpark, for machines without Maven."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest

from headwater.java import maven
from headwater.java.artifacts import ArtifactError, fetch
from headwater.java.runtime import find_java

if TYPE_CHECKING:
    from pathlib import Path

POOL = "org.apache.commons:commons-pool2:2.12.1"


@pytest.fixture(autouse=True)
def no_maven(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HEADWATER_MAVEN_REPOSITORY", raising=False)
    # A Java of the machine knows the authorities that the machine trusts, one from PyPI does not.
    monkeypatch.setenv("JAVA_HOME", str(find_java().home))
    monkeypatch.setenv("HEADWATER_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    assert maven.command() is None


def test_a_jar_is_fetched() -> None:
    (jar,) = fetch("pool", [POOL], transitive=False)
    assert jar.name == "commons-pool2-2.12.1.jar"
    with zipfile.ZipFile(jar) as archive:
        assert "org/apache/commons/pool2/ObjectPool.class" in archive.namelist()


def test_what_cannot_be_fetched_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=1")
    with pytest.raises(ArtifactError, match=r"Ivy could not fetch .*commons-pool2:2\.12\.1"):
        fetch("pool", [POOL], transitive=False)
    assert not list(tmp_path.glob("pool-*"))
