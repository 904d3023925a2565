"""Spark's classes in an archive, made once: sessions then start with two thirds of the work.

It lies beside the installed packages, which have Spark's jars, and goes with them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.java import class_sharing
from headwater.java.runtime import find_java
from headwater.spark.jars import session_jars

if TYPE_CHECKING:
    from collections.abc import Sequence

ARCHIVE = Path(sys.prefix) / "spark-classes.jsa"
SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:ReservedCodeCacheSize=240m")
"""For a JVM that lives for a minute: compiled quickly, and not twice."""

_MADE_FOR = ARCHIVE.with_suffix(".txt")


class ArchiveError(Exception):
    """The archive was not made; the message says why."""


def archive_options() -> tuple[str, ...]:
    """Return a session's JVM options for the archive, if there is one."""
    return class_sharing.use(ARCHIVE) if ARCHIVE.exists() else ()


def is_made() -> bool:
    """Tell whether there is an archive of this Java and these jars."""
    return _MADE_FOR.exists() and _MADE_FOR.read_text("utf-8") == _fitting()


def make_archive(program: Sequence[str]) -> bool:
    """Make it out of what a Python program that uses Spark loads; False if this Java makes none.

    `program` is what follows the interpreter. Raises ArchiveError.
    """
    partial = ARCHIVE.with_name(f".{ARCHIVE.name}")
    try:
        for file in (partial, ARCHIVE, _MADE_FOR):
            file.unlink(missing_ok=True)
        options = " ".join((*SHORT_LIVED, *class_sharing.make(partial)))
        environment = os.environ | {"SPARK_SUBMIT_OPTS": options}
        done = subprocess.run([sys.executable, *program], env=environment, check=False)
        if done.returncode:
            raise ArchiveError("the program that uses Spark has failed, for the reasons above")
        if made := partial.exists():  # PyPI's Java cannot make one
            partial.replace(ARCHIVE)
        _MADE_FOR.write_text(_fitting(), "utf-8")
    except OSError as failure:
        raise ArchiveError(
            f"{ARCHIVE} cannot be written ({failure.strerror}): "
            "install Headwater where you may write, as in an environment of your own"
        ) from failure
    return made


def _fitting() -> str:
    java = find_java()
    jars = [f"{jar} {jar.stat().st_size} {jar.stat().st_mtime_ns}" for jar in session_jars()]
    return "\n".join([f"{java.java} {java.version}", *jars])
