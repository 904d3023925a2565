"""The end of a command's process: Python's own, without that of the C libraries."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys


class ProcessEnd:
    """Ends the process with `code`, after all that Python does at its end.

    librdkafka's threads outlive the clients that a command has closed. OpenSSL tidies up beside
    them when a process ends, and some commands died of signal 11 with all their work done. Made
    before anything else asks to be called at the end, it is called after everything else.
    """

    def __init__(self) -> None:
        self.code: int | None = None
        """None leaves the end to Python."""
        atexit.register(self._end)

    def _end(self) -> None:
        if self.code is None:
            return
        for stream in (sys.stdout, sys.stderr):
            # What could not be written was told when the command ended, or nobody is there to hear.
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(self.code)
