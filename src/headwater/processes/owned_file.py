"""A file that says who owns what is beside it, for as long as the owner lives and no longer."""

from __future__ import annotations

import fcntl
import json
import os
import time
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_BRIEFLY_S = 0.01


class OwnedError(Exception):
    """Another process is the owner; `owner` is what it wrote."""

    def __init__(self, path: Path, owner: Mapping[str, Any]) -> None:
        super().__init__(f"{path} is held by process {owner['pid']}")
        self.owner = owner


class OwnedFile:
    """A JSON document with the owner's `pid`, locked by it: one that was killed owns nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def take(self, document: Mapping[str, Any]) -> IO[str]:
        """Become the owner for as long as the returned file is open; raises OwnedError."""
        lock = open(self.path, "a+", encoding="utf-8")  # noqa: SIM115 - held as long as it is owned
        try:
            while not _try_lock(lock, fcntl.LOCK_EX):
                if (owner := self.owner()) is not None:
                    raise OwnedError(self.path, owner)
                time.sleep(_BRIEFLY_S)  # somebody has only looked whether there is an owner
            lock.truncate(0)
            lock.write(json.dumps({"pid": os.getpid(), **document}))
            lock.flush()
        except BaseException:
            lock.close()
            raise
        return lock

    def owner(self) -> dict[str, Any] | None:
        """Return what the owner wrote, if there is one."""
        try:
            with open(self.path, encoding="utf-8") as lock:
                while not _try_lock(lock, fcntl.LOCK_SH):
                    lock.seek(0)
                    if text := lock.read():
                        document: dict[str, Any] = json.loads(text)
                        return document
                    time.sleep(_BRIEFLY_S)  # it is about to say who it is
        except FileNotFoundError:
            pass
        return None


def _try_lock(file: IO[str], kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
