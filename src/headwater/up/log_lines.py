"""One log for all services: each line says which of them wrote it, as text or in JSON."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Protocol, TextIO

from headwater.logs.lines import LogFormat, log_format, timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SUPERVISOR = "up"

# ANSI codes of colours that can be read on dark and light screens; the supervisor's is bold.
_COLOURS = ("36", "32", "35", "34", "33", "31")


class LogLines:
    """Writes lines, from any thread; once whoever reads them has gone away (`| head`), none."""

    def __init__(self, names: Iterable[str], out: TextIO, *, colours: bool) -> None:
        is_json = log_format() is LogFormat.JSON
        self._form: _Form = _Json() if is_json else _Text([SUPERVISOR, *names], colours=colours)
        self._out = out
        self._lock = threading.Lock()
        self._is_read = True
        self.on_reader_gone: Callable[[], object] = lambda: None

    def say(self, text: str) -> None:
        """Write a line of the supervisor's own."""
        self._write([self._form.own(text)])

    def write(self, name: str, lines: Iterable[str]) -> None:
        """Write lines of a service."""
        self._write(self._form.of(name, line) for line in lines)

    def _write(self, lines: Iterable[str]) -> None:
        with self._lock:
            if not self._is_read:
                return
            try:
                self._out.write("".join([f"{line}\n" for line in lines]))
                self._out.flush()
            except BrokenPipeError:
                self._is_read = False
                self.on_reader_gone()


class _Form(Protocol):
    def own(self, text: str) -> str:
        """Return a line of the supervisor's own."""

    def of(self, name: str, line: str) -> str:
        """Return a service's line."""


class _Text:
    """The service's name in front of each line, in its colour on a screen."""

    def __init__(self, names: list[str], *, colours: bool) -> None:
        width = max(map(len, names))
        codes = ("1", *(_COLOURS[number % len(_COLOURS)] for number in range(len(names) - 1)))
        self._prefixes = {
            name: f"\x1b[{code}m{name:<{width}} |\x1b[0m " if colours else f"{name:<{width}} | "
            for name, code in zip(names, codes, strict=True)
        }

    def own(self, text: str) -> str:
        return self.of(SUPERVISOR, f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}")

    def of(self, name: str, line: str) -> str:
        return self._prefixes[name] + line


class _Json:
    """The service's name as a field; what a JVM or a traceback writes becomes a message."""

    def own(self, text: str) -> str:
        fields = {"level": "INFO", "logger": "headwater.up", "message": text}
        return json.dumps({"service": SUPERVISOR, "timestamp": timestamp(time.time()), **fields})

    def of(self, name: str, line: str) -> str:
        try:
            fields = json.loads(line)
        except ValueError:
            fields = None
        if not isinstance(fields, dict):
            fields = {"timestamp": timestamp(time.time()), "message": line}
        return json.dumps({"service": name, **fields})
