"""Which platforms run on this machine, so that other commands find them.

up.json in the data directory is held by the process that runs the platform, and says where its
status is to be had. ~/.headwater/running lists the data directories of this user's platforms.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.processes.owned_file import OwnedError, OwnedFile
from headwater.processes.whole_file import write_whole
from headwater.up.settings import default_data

if TYPE_CHECKING:
    from collections.abc import Iterator

_FILE = "up.json"


class DataDirectoryError(Exception):
    """The data directory cannot be had; the message says why."""


class NotFoundError(Exception):
    """No platform runs, or nobody can tell which one is meant."""


@dataclass(frozen=True)
class RunningPlatform:
    """A platform that runs."""

    data: Path
    pid: int
    status_url: str
    security: Path | None = None
    """The folder with its keys, if it has any."""


@contextmanager
def announced(data: Path, status_url: str, security: Path | None = None) -> Iterator[None]:
    """Let others find this process's platform; raises DataDirectoryError."""
    keys = {} if security is None else {"security": str(security)}
    try:
        data.mkdir(parents=True, exist_ok=True)
        held = OwnedFile(data / _FILE).take({"status_url": status_url, **keys})
    except OwnedError as failure:
        raise DataDirectoryError(
            f"the platform in {data} is run by process {failure.owner['pid']} already. "
            "Stop it first, or use another directory with --data"
        ) from None
    except OSError as failure:
        raise DataDirectoryError(
            f"{failure.filename or data}: {failure.strerror}. Choose another directory with --data"
        ) from None
    with held, _listed(data):
        yield


def running_in(data: Path) -> RunningPlatform | None:
    """Return the platform that has this data directory, if it runs."""
    owner = OwnedFile(data / _FILE).owner()
    if owner is None:
        return None
    keys = owner.get("security")
    return RunningPlatform(
        data, owner["pid"], owner["status_url"], None if keys is None else Path(keys)
    )


def all_running() -> list[RunningPlatform]:
    """Return this user's platforms."""
    found = []
    for entry in sorted(_list().glob("[0-9]*")):
        try:
            platform = running_in(Path(entry.read_text("utf-8")))
        except FileNotFoundError:  # it has just ended
            continue
        if platform is not None and str(platform.pid) == entry.name:
            found.append(platform)
        else:
            entry.unlink(missing_ok=True)  # it was killed
    return found


def likely_data() -> Path:
    """Return the data directory of the platform that is meant when nobody says which.

    That is the usual one, unless there is no platform there and one elsewhere. Raises NotFoundError
    if there are several elsewhere.
    """
    usual = default_data()
    platforms = {platform.data for platform in all_running()}
    if not platforms or usual in platforms or running_in(usual) is not None:
        return usual
    if len(platforms) > 1:
        listed = ", ".join(sorted(map(str, platforms)))
        raise NotFoundError(f"several platforms run; say which with --data: {listed}")
    return platforms.pop()


@contextmanager
def _listed(data: Path) -> Iterator[None]:
    entry = _list() / str(os.getpid())
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        write_whole(entry, str(data.absolute()))
    except OSError:  # a user without a home, as services have: the platform is found by --data
        yield
        return
    try:
        yield
    finally:
        entry.unlink(missing_ok=True)


def _list() -> Path:
    return default_data().parent / "running"
