"""Where a session writes: standard output, and the file of SPOOL as well."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, TextIO

import click

from headwater.cli.errors import CommandError

if TYPE_CHECKING:
    from pathlib import Path


class Terminal:
    """Takes the lines that a user reads."""

    def __init__(self) -> None:
        self.is_wrapping = True
        """Whether a cell that is too long goes on in the next line, or is cut off."""
        self._spool: TextIO | None = None

    @property
    def width(self) -> int | None:
        """How wide a line can be; None in a pipe, where nothing is to be lost."""
        return shutil.get_terminal_size().columns if sys.stdout.isatty() else None

    def line(self, text: str) -> None:
        """Write a line."""
        click.echo(text)
        self.record(text)

    def note(self, text: str) -> None:
        """Tell something that is no result, on standard error."""
        click.echo(text, err=True)
        self.record(text)

    def record(self, text: str) -> None:
        """Write what was typed or shown to the file of SPOOL, if there is one."""
        if self._spool is not None:
            self._spool.write(f"{text}\n")
            self._spool.flush()

    def spool(self, path: Path) -> None:
        """Write to a file as well, from its beginning; raises CommandError."""
        if self._spool is not None:
            raise CommandError(f"the session is spooled to {self._spool.name}: SPOOL OFF ends that")
        try:
            self._spool = path.open("w", encoding="utf-8")
        except OSError as failure:
            raise CommandError(f"cannot write {path}: {failure.strerror}") from None

    def end_spool(self) -> str | None:
        """Close the file of SPOOL; return its name, or None if there was none."""
        if self._spool is None:
            return None
        name = self._spool.name
        self._spool.close()
        self._spool = None
        return name
