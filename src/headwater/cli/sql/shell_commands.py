"""The words of the shell alone: OUTPUT, SERVER, HELP, EXIT and others, with or without a `;`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from headwater import __version__
from headwater.cli.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.cli.sql.session import Session

_WORD = re.compile(r"'((?:[^']|'')*)'|([^\s';]+)")
_OUTPUTS = {"TABULAR": "table", "TABLE": "table", "JSON": "json", "CSV": "csv"}

HELP = """\
Statements end with a semicolon, and may take several lines. Tab completes names and words.
Ctrl-C ends a query that has no end, or forgets what was typed; Ctrl-D leaves.

  CLEAR                        clear the screen
  CLI WRAP [ON|OFF]            let long cells go on in the next line, or cut them off
  DEFINE name = 'value';       from here on ${name} is the value; UNDEFINE name; forgets it
  EXIT, QUIT                   leave
  HELP                         this
  HISTORY                      what was typed before
  OUTPUT [TABULAR|JSON|CSV]    how answers are written
  RUN SCRIPT 'file';           run the statements of a file
  SERVER [url]                 which server is asked
  SET 'property' = 'value';    a property of queries; UNSET 'property'; forgets it
  SPOOL 'file'; SPOOL OFF;     write all that is shown to a file as well
  VERSION                      the shell's version and the server's"""


class LeaveShell(Exception):  # noqa: N818 - no failure: the user has had enough
    """The user wants to leave."""


class ShellCommands:
    """Runs what is meant for the shell and no server."""

    def __init__(self, session: Session, history: Callable[[], Sequence[str]]) -> None:
        self._session = session
        self._history = history

    def run(self, text: str) -> bool:
        """Run a command; return False for a text that is none. Raises CommandError, LeaveShell."""
        words = words_of(text)
        if words is None:
            return False
        line = self._session.terminal.line
        match words:
            case ["EXIT" | "QUIT"]:
                raise LeaveShell
            case ["CLEAR"]:
                click.clear()
            case ["HELP", *_]:
                line(HELP)
            case ["HISTORY"]:
                for number, typed in enumerate(self._history(), 1):
                    line(f"{number:5}  {typed}")
            case ["VERSION"]:
                line(f"Shell  {__version__}\nServer {self._session.client.info()['version']}")
            case ["OUTPUT"]:
                line(f"Current output format: {_shown(self._session.output_name)}")
            case ["OUTPUT", name]:
                self._output(name.upper())
            case ["SERVER"]:
                line(self._session.client.url)
            case ["SERVER", url]:
                self._server(url)
            case ["CLI"]:
                line(f"WRAP {'ON' if self._session.terminal.is_wrapping else 'OFF'}")
            case ["CLI", name, value] if name.upper() == "WRAP" and value.upper() in ("ON", "OFF"):
                self._session.terminal.is_wrapping = value.upper() == "ON"
            case _:
                raise CommandError(f"{text.strip()!r} is not how {words[0]} is used: see HELP")
        return True

    def _output(self, name: str) -> None:
        if name not in _OUTPUTS:
            raise CommandError(f"{name} is no output format: TABULAR, JSON and CSV are")
        self._session.output_name = _OUTPUTS[name]
        self._session.terminal.line(f"Output format set to {_shown(_OUTPUTS[name])}")

    def _server(self, url: str) -> None:
        client = self._session.client
        before, client.url = client.url, url
        try:
            client.info()
        except CommandError:
            client.url = before
            raise
        self._session.terminal.line(f"Server now: {url}")


WORDS = ("CLEAR", "CLI", "EXIT", "HELP", "HISTORY", "OUTPUT", "QUIT", "SERVER", "VERSION")


def words_of(text: str) -> list[str] | None:
    """Return the words of a command of the shell; None for what is none.

    >>> words_of("output 'JSON';"), words_of("SHOW STREAMS")
    (['OUTPUT', 'JSON'], None)
    """
    words = [quoted.replace("''", "'") or bare for quoted, bare in _WORD.findall(text)]
    if not words or words[0].upper() not in WORDS:
        return None
    return [words[0].upper(), *words[1:]]


def _shown(name: str) -> str:
    return "TABULAR" if name == "table" else name.upper()
