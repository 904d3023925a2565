"""Cuts what a process writes into lines of text."""

from __future__ import annotations

_LONGEST_LINE = 64 * 1024


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
