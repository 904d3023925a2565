"""Whether processes have ended, also those that are nobody's children any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psutil
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterable


def runs(pid: int) -> bool:
    """Tell whether a process runs; one that has ended is over, though nobody has asked how."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def wait_until_ended(pids: Iterable[int]) -> None:
    """Wait until none of the processes runs."""
    waited_for = list(pids)
    wait_for(
        lambda: [pid for pid in waited_for if runs(pid)],
        "left running",
        until=lambda left: not left,
    )
