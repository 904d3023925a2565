"""Looks at this installation: Python, Java, Spark, files that may be open, and room on disk."""

from __future__ import annotations

import platform
import resource
import shutil
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from headwater import __version__
from headwater.cli.doctor.finding import Finding, Level

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AREA = "installation"

_JAVA_OF_SPARK = 17
_FEW_FILES = 4096
_LITTLE_ROOM = 1 << 30
_GB = 1 << 30


def look_at_installation(data: Path) -> Iterator[Finding]:
    """Return how this installation is; `data` is where a platform keeps its data."""
    text = f"headwater {__version__} on Python {platform.python_version()}, {platform.system()}"
    yield _found(Level.OK, text)
    yield from _spark()
    yield _files()
    yield _room(data)


def _spark() -> Iterator[Finding]:
    try:
        spark = version("pyspark")
    except PackageNotFoundError:
        advice = "Programs and SQL need it: pip install 'headwater[spark]'"
        yield _found(Level.NOTE, "PySpark is not installed", advice)
        return
    yield _found(Level.OK, f"PySpark {spark}")
    yield _java()
    yield _jar()


def _java() -> Finding:
    from headwater.java.runtime import JavaNotFound, find_java

    try:
        java = find_java(_JAVA_OF_SPARK)
    except JavaNotFound as failure:
        return _found(Level.PROBLEM, "Spark finds no Java", str(failure))
    return _found(Level.OK, f"Java {java.version} in {java.home}")


def _jar() -> Finding:
    from headwater.spark.jars import OperatorsMissing, operators_jar

    try:
        return _found(Level.OK, f"operators for Spark in {operators_jar().name}")
    except OperatorsMissing as failure:
        return _found(Level.PROBLEM, "the operators for Spark are missing", str(failure))


def _files() -> Finding:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # The broker raises the soft limit itself.
    if hard != resource.RLIM_INFINITY and hard < _FEW_FILES:
        advice = f"A broker with many partitions needs more: ulimit -Hn {_FEW_FILES * 4}"
        return _found(Level.WARNING, f"a process may open {hard} files", advice)
    at_most = "any number of" if hard == resource.RLIM_INFINITY else hard
    return _found(Level.OK, f"a process may open {at_most} files ({soft} unless it asks)")


def _room(data: Path) -> Finding:
    place = data
    while not place.exists():
        place = place.parent
    space = shutil.disk_usage(place)
    what = f"{space.free / _GB:.1f} GB of {space.total / _GB:.0f} GB are free for data in {data}"
    if space.free < _LITTLE_ROOM:
        return _found(Level.WARNING, what, "Make room, or choose another disk with --data")
    return _found(Level.OK, what)


def _found(level: Level, what: str, advice: str = "") -> Finding:
    return Finding(AREA, level, what, advice)
