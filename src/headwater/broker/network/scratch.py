"""Memory in which all connections of an event loop receive, one after the other."""

from __future__ import annotations

import threading

SCRATCH_BYTES = 64 * 1024


class Scratch(threading.local):
    """Each thread has its own, since a process may have several brokers (`headwater.testing`).

    Without that the one's bytes could become the other's: the interpreter lets other threads go on
    while a socket is read.
    """

    def __init__(self) -> None:
        self.view = memoryview(bytearray(SCRATCH_BYTES))
