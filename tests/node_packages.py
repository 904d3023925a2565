"""Packages of Node that tests use: what a lock file pins, installed once."""

from __future__ import annotations

import functools
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@functools.cache
def install(folder: Path) -> None:
    """`npm ci` in a folder, unless what its lock file asks for is there already."""
    lock = folder / "package-lock.json"
    stamp = folder / "node_modules" / ".installed"
    if stamp.exists() and stamp.read_bytes() == lock.read_bytes():
        return
    command = ["npm", "ci", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts"]
    subprocess.run(command, check=True, capture_output=True, timeout=280)
    stamp.write_bytes(lock.read_bytes())
