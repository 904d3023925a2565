"""A command in a terminal, as a person sits before it: a pseudo-terminal, keys in, text out."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from tests.waiting import HUNG_AFTER_S, wait_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

CTRL_C, CTRL_D = "\x03", "\x04"
ENTER, TAB, UP = "\r", "\t", "\x1b[A"
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[a-zA-Z]|\][^\x07]*\x07|[=>])")


class TerminalProcess:
    """A process whose terminal the test holds the other end of."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], columns: int = 80
    ) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        # No answers to questions for the cursor's place come from here.
        given = {**environment, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
        for name in ("COLUMNS", "LINES"):
            given.pop(name, None)
        self._process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=given,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        self._shown = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> TerminalProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._reader.join()
        os.close(self._ours)

    @property
    def screen(self) -> str:
        """All that was shown, without colours and movements."""
        return _ESCAPES.sub("", self._shown)

    def press(self, keys: str) -> None:
        """Type."""
        os.write(self._ours, keys.encode())

    def wait_until_shown(self, text: str, times: int = 1) -> str:
        """Wait until a text is on the screen so many times; return all that is."""
        return wait_for(
            lambda: self.screen,
            lambda: f"{text!r} is to be shown {times} times, and there is\n{self.screen}",
            until=lambda screen: screen.count(text) >= times,
        )

    def press_until_shown(self, keys: str, text: str) -> None:
        """Type again and again until a text is shown."""

        def pressed() -> str:
            self.press(keys)
            return self.screen

        wait_for(pressed, until=lambda screen: text in screen)

    def press_until_ended(self, keys: str) -> int:
        """Type until the process has ended, and return its exit code.

        Between two prompts a terminal takes Ctrl-D for itself, so that one may be lost.
        """

        def pressed() -> int | None:
            with suppress(OSError):  # it ends while we type
                self.press(keys)
            return self._process.poll()

        code = wait_for(pressed, until=lambda code: code is not None)
        assert code is not None
        return code

    def wait(self) -> int:
        """Wait for the end, and return the exit code."""
        return self._process.wait(HUNG_AFTER_S)

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._ours, 65536)
            except OSError:  # the other end is closed
                return
            if not data:
                return
            self._shown += data.decode(errors="replace")
