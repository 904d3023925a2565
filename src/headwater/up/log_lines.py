"""One log for all services: the service's name in front of each line, in its colour on a screen."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SUPERVISOR = "up"

# ANSI codes of colours that can be read on dark and light screens; the supervisor's is bold.
_COLOURS = ("36", "32", "35", "34", "33", "31")
_LONGEST_LINE = 64 * 1024


class LogLines:
    """Writes lines; once whoever reads them has gone away (`| head`), it drops them."""

    def __init__(self, names: Iterable[str], out: TextIO, *, colours: bool) -> None:
        names = [SUPERVISOR, *names]
        width = max(map(len, names))
        codes = ("1", *(_COLOURS[number % len(_COLOURS)] for number in range(len(names) - 1)))
        self._prefixes = {
            name: f"\x1b[{code}m{name:<{width}} |\x1b[0m " if colours else f"{name:<{width}} | "
            for name, code in zip(names, codes, strict=True)
        }
        self._out = out
        self._is_read = True
        self.on_reader_gone: Callable[[], None] = lambda: None

    def say(self, text: str) -> None:
        """Write a line of the supervisor's own."""
        self.write(SUPERVISOR, [f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}"])

    def write(self, name: str, lines: Iterable[str]) -> None:
        """Write lines of a service."""
        if not self._is_read:
            return
        prefix = self._prefixes[name]
        try:
            self._out.write("".join([f"{prefix}{line}\n" for line in lines]))
            self._out.flush()
        except BrokenPipeError:
            self._is_read = False
            self.on_reader_gone()


class LineSplitter:
    """Cuts what a process writes into lines of text, whatever the pieces it comes in."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[str]:
        """Return the lines that are complete; a line without an end is cut off at some point."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _LONGEST_LINE:
            lines.append(self._rest)
            self._rest = b""
        return [_text(line) for line in lines]

    def finish(self) -> list[str]:
        """Return what is left when no more will come."""
        rest, self._rest = self._rest, b""
        return [_text(rest)] if rest else []


def _text(line: bytes) -> str:
    return line.rstrip(b"\r").decode("utf-8", "replace")
