"""Files that are opened when they are used; those that were not used for long are closed again.

A broker with many partitions has more files than a process may have open. Closing one costs
nothing but the next opening: nobody loses a file that he is using, since an `OpenFile` stays open
as long as anyone refers to it, be it a reader that still sends from it or a thread that syncs it.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import deque
from functools import cache
from typing import TYPE_CHECKING
from weakref import ref

from headwater.log.disk import OpenFile

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_OPEN = 8000
"""Enough for the logs in use; also where a process may have many more."""

_TRIES = 64


class FileHolder(ABC):
    """Has one file, which is open or not; `file` is the only way to it."""

    __slots__ = ("__weakref__", "_file")

    def __init__(self) -> None:
        self._file: OpenFile | None = None

    @property
    def file(self) -> OpenFile:
        """The open file. Keep a reference to it for as long as you use its descriptor."""
        file = self._file
        if file is None:
            file = self._file = OpenFile(self.file_path)
            open_files.add(self)
        else:
            file.is_used = True
        return file

    @property
    @abstractmethod
    def file_path(self) -> str:
        """Where the file is at present."""

    def create_file(self) -> OpenFile:
        """Make the file if it is not there, and open it."""
        file = self._file = OpenFile(self.file_path, create=True)
        open_files.add(self)
        return file

    def is_busy(self) -> bool:
        """Whether the file was used since this was last asked, or has bytes that are not on disk.

        The system may have forgotten a failed write-back when the file is opened again.
        """
        file = self._file
        if file is None:
            return False
        was_used, file.is_used = file.is_used, False
        return was_used or file.is_unsynced

    def close_file(self) -> None:
        """Give the descriptor back until the file is used again, or its last user is done."""
        self._file = None


class OpenFiles:
    """Closes what was not used since it was last looked at, once there are too many.

    It goes round in a circle and gives each file that was used meanwhile, or that has bytes that
    are not on disk, another round.
    """

    def __init__(self, limit: Callable[[], int]) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._circle: deque[ref[FileHolder]] = deque()

    def __len__(self) -> int:
        return len(self._circle)

    def add(self, holder: FileHolder) -> None:
        """Take in a file that was opened just now, for which another one may have to be closed."""
        with self._lock:
            self._circle.append(ref(holder))
            while len(self._circle) > self._limit():
                self._close_one()

    def _close_one(self) -> None:
        circle = self._circle
        for _ in range(min(_TRIES, len(circle) - 1)):
            holder = circle[0]()
            if holder is None or not holder.is_busy():
                break
            circle.rotate(-1)
        holder = circle.popleft()()
        if holder is not None:
            holder.close_file()


@cache
def _limit() -> int:
    # Asked once, as each opening asks, and a process sets its limit when it starts.
    import resource

    return max(16, min(MOST_OPEN, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2))


open_files = OpenFiles(_limit)
"""Those of this process, as the limit is one of the process."""
