"""Packages of Node that tests use: what a lock file pins, installed once."""

from __future__ import annotations

import fcntl
import functools
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@functools.cache
def install(folder: Path) -> None:
    """`npm ci` in a folder, unless what its lock file asks for is there already.

    Tests in several processes want the same packages, and npm begins by deleting all of them.
    """
    wanted = folder / "package-lock.json"
    stamp = folder / "node_modules" / ".installed"
    command = ["npm", "ci", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts"]
    with wanted.open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_bytes() == wanted.read_bytes():
            return
        subprocess.run(command, check=True, capture_output=True, timeout=280)
        stamp.write_bytes(wanted.read_bytes())
