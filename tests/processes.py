"""Whether processes have ended, also those that are nobody's children any more."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterable

HUNG_AFTER_S = 200.0


def runs(pid: int) -> bool:
    """Tell whether a process runs; one that has ended is over, though nobody has asked how."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def wait_until_ended(pids: Iterable[int]) -> None:
    """Wait until none of the processes runs."""
    deadline = time.monotonic() + HUNG_AFTER_S
    waited_for = list(pids)
    while left := [pid for pid in waited_for if runs(pid)]:
        assert time.monotonic() < deadline, f"left running: {left}"
        time.sleep(0.02)
