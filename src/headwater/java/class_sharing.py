"""Class data sharing: classes as one JVM kept them in memory, in a file that the next ones map.

An archive belongs to one Java and one class path; a JVM that it does not fit goes on without it,
and so does one that finds none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_QUIET = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")


def use(archive: Path) -> tuple[str, ...]:
    """Return the options of a JVM that takes its classes from an archive."""
    return (f"-XX:SharedArchiveFile={archive}", *_QUIET)


def make(archive: Path) -> tuple[str, ...]:
    """Return the options of a JVM that writes its classes to an archive when it ends."""
    return (f"-XX:ArchiveClassesAtExit={archive}", *_QUIET)
