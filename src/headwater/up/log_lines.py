"""One log for all services: the service's name in front of each line, in its colour on a screen."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SUPERVISOR = "up"

# ANSI codes of colours that can be read on dark and light screens; the supervisor's is bold.
_COLOURS = ("36", "32", "35", "34", "33", "31")


class LogLines:
    """Writes lines, from any thread; once whoever reads them has gone away (`| head`), none."""

    def __init__(self, names: Iterable[str], out: TextIO, *, colours: bool) -> None:
        names = [SUPERVISOR, *names]
        width = max(map(len, names))
        codes = ("1", *(_COLOURS[number % len(_COLOURS)] for number in range(len(names) - 1)))
        self._prefixes = {
            name: f"\x1b[{code}m{name:<{width}} |\x1b[0m " if colours else f"{name:<{width}} | "
            for name, code in zip(names, codes, strict=True)
        }
        self._out = out
        self._lock = threading.Lock()
        self._is_read = True
        self.on_reader_gone: Callable[[], object] = lambda: None

    def say(self, text: str) -> None:
        """Write a line of the supervisor's own."""
        self.write(SUPERVISOR, [f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}"])

    def write(self, name: str, lines: Iterable[str]) -> None:
        """Write lines of a service."""
        prefix = self._prefixes[name]
        with self._lock:
            if not self._is_read:
                return
            try:
                self._out.write("".join([f"{prefix}{line}\n" for line in lines]))
                self._out.flush()
            except BrokenPipeError:
                self._is_read = False
                self.on_reader_gone()
