"""Spark's classes as the JVM keeps them in memory, made once: its JVMs then need half the time.

    python -m tests.runs.class_archive

makes the archive (Java's class data sharing) beside the installed packages, unless it is there: by
a session of no other use, which runs a small program and ends. An archive belongs to one Java and
one class path; a JVM that it does not fit goes on without it, and so does one that finds none.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# With the interpreter, as the packages are, which have Spark's jars.
ARCHIVE = Path(sys.prefix) / "spark-classes.jsa"
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m"
"""For a JVM that lives for a minute: compiled quickly, and not twice; see conftest.py."""

_MADE_FOR = ARCHIVE.with_suffix(".txt")
_ROOT = Path(__file__).parents[2]
_VARIABLE = "SPARK_SUBMIT_OPTS"
_QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"


def archive_options() -> str:
    """Return the JVM's options for the archive, be it there or not."""
    return f"-XX:SharedArchiveFile={ARCHIVE} {_QUIET}"


def main() -> int:
    """Make the archive, unless there is one for this Java and these jars."""
    from headwater.java.runtime import find_java
    from headwater.spark.jars import session_jars

    java = find_java()
    jars = [f"{jar} {jar.stat().st_size} {jar.stat().st_mtime_ns}" for jar in session_jars()]
    wanted = "\n".join([f"{java.java} {java.version}", *jars])
    if _MADE_FOR.exists() and _MADE_FOR.read_text("utf-8") == wanted:
        return 0
    partial = ARCHIVE.with_name(f".{ARCHIVE.name}")
    partial.unlink(missing_ok=True)
    options = f"{SHORT_LIVED} -XX:ArchiveClassesAtExit={partial} {_QUIET}"
    made = subprocess.run(
        [sys.executable, "-m", "tests.runs.spark_classes"],
        env=os.environ | {_VARIABLE: options},
        cwd=_ROOT,
        check=False,
    )
    if made.returncode:
        print(
            "There is no archive of Spark's classes, for the reasons above; its JVMs take longer."
        )
        return 0
    if partial.exists():  # PyPI's Java cannot make one
        partial.replace(ARCHIVE)
    _MADE_FOR.write_text(wanted, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
