"""Ends children when their parent itself was killed: `python -m headwater.processes.guard`.

The guard is a process that reads, from a pipe, which process groups there are. When the parent is
gone, however it went, the pipe ends, and the guard ends the groups that are left, the last one
first: asked at first, forced where that does not help.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Self

_POLL_S = 0.02


class Guard:
    """The parent's end: tells the guard which groups to end, and starts it anew if it died."""

    def __init__(self, kills_after_s: float) -> None:
        self._kills_after_s = kills_after_s
        self._groups: list[int] = []
        self._is_closed = False
        self._lock = threading.Lock()
        self._process = self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The number of the guard itself."""
        return self._process.pid

    def watch(self, group: int) -> None:
        """End this process group if this process dies."""
        with self._lock:
            self._groups.append(group)
            self._tell(f"+{group}\n")

    def forget(self, group: int) -> None:
        """This process group has ended; one that was not watched changes nothing."""
        with self._lock:
            if group in self._groups and not self._is_closed:
                self._groups.remove(group)
                self._tell(f"-{group}\n")

    def close(self) -> None:
        """Let the guard go; it ends what is left."""
        with self._lock:
            self._is_closed = True
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode())
        except BrokenPipeError:
            self._process.wait()
            self._process = self._start()
            assert self._process.stdin is not None
            self._process.stdin.write("".join(f"+{group}\n" for group in self._groups).encode())

    def _start(self) -> subprocess.Popen[bytes]:
        # -P: the working directory is the user's and must not shadow modules. A session of its
        # own: Ctrl-C is for the parent.
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "headwater.processes.guard", str(self._kills_after_s)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )


def main() -> None:
    """Wait for the end of standard input, then end the groups that are left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: list[int] = []
    for line in sys.stdin:
        if line.startswith("+"):
            groups.append(int(line[1:]))
        else:
            groups.remove(int(line[1:]))
    for group in reversed(groups):
        _end(group, float(sys.argv[1]))


def _end(group: int, kill_after_s: float) -> None:
    with suppress(ProcessLookupError):
        os.kill(group, signal.SIGTERM)
    deadline = time.monotonic() + kill_after_s
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(_POLL_S)
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
