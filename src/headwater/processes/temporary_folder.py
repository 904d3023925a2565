"""A folder in the temporary directory that goes with its process, or soon after it.

Whoever is killed cannot clean up. So a folder is locked while its owner lives, and whoever makes
the next one deletes those that nobody holds.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import weakref
from pathlib import Path

_PREFIX = "headwater-"
# Only folders of this form are ever deleted: what a user calls headwater-something is the user's.
_SUFFIX = ".tmp"


class TemporaryFolder:
    """A folder until `close`, the end of the `with` block, or nobody refers to it any more."""

    def __init__(self, name: str) -> None:
        """Make a folder with this in its name, and delete what killed processes have left."""
        _sweep(Path(tempfile.gettempdir()))
        held: int | None = None
        while held is None:
            self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{name}-", suffix=_SUFFIX))
            held = _hold(self.path)
        self._delete = weakref.finalize(self, _delete, self.path, held)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Delete it with all that is in it; once is enough."""
        self._delete()


def _sweep(directory: Path) -> None:
    for path in directory.glob(f"{_PREFIX}*{_SUFFIX}"):
        try:
            if path.lstat().st_uid != os.getuid():
                continue
            folder = _open(path)
        except OSError:  # no folder, or gone meanwhile
            continue
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # somebody holds it, or nobody can here
            os.close(folder)
            continue
        _delete(path, folder)


def _delete(path: Path, folder: int) -> None:
    shutil.rmtree(path, ignore_errors=True)
    os.close(folder)


def _hold(path: Path) -> int | None:
    """Lock a new folder; None if another process took it for one that was left, and deletes it."""
    try:
        folder = _open(path)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(folder)
        return None
    except OSError:  # a file system without locks: nobody else can lock it either, to delete it
        return folder
    if not path.exists():
        os.close(folder)
        return None
    return folder


def _open(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
