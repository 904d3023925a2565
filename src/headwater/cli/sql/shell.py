"""The shell: a prompt with history, completion and colours, until Ctrl-D."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click
from prompt_toolkit import PromptSession
from prompt_toolkit.filters import completion_is_selected, has_completions
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings

from headwater import __version__
from headwater.cli.errors import CommandError
from headwater.cli.sql.completion import Names, SqlCompleter
from headwater.cli.sql.highlighting import STYLE, SqlLexer
from headwater.cli.sql.shell_commands import LeaveShell, ShellCommands, words_of
from headwater.sql.errors import SqlError
from headwater.sql.parser.splitting import split

if TYPE_CHECKING:
    from prompt_toolkit.key_binding import KeyPressEvent

    from headwater.cli.sql.session import Session

_PROMPT = "sql> "
_CLOSED = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|--[^\n]*|/\*.*?\*/""", re.DOTALL
)
_OPEN = re.compile(r"""['"`]|/\*""")
HISTORY = Path.home() / ".headwater" / "sql-history"


class Shell:
    """Reads statements from a terminal and runs them, one after the other."""

    def __init__(self, session: Session, history: Path = HISTORY) -> None:
        history.parent.mkdir(parents=True, exist_ok=True)
        history.touch(mode=0o600)  # statements about connectors may have passwords in them
        self._session = session
        self._completer = SqlCompleter()
        self._history = FileHistory(str(history))
        self._commands = ShellCommands(session, self._typed)
        self._prompt: PromptSession[str] = PromptSession(
            _PROMPT,
            multiline=True,
            prompt_continuation=lambda width, _, __: ">".rjust(width - 1) + " ",
            history=self._history,
            completer=self._completer,
            complete_while_typing=False,
            lexer=SqlLexer(),
            style=STYLE,
            key_bindings=_keys(),
            enable_history_search=False,
        )

    def run(self) -> None:
        """Read and run until the user leaves."""
        self._greet()
        self._learn_names()
        while True:
            try:
                self._run(self._prompt.prompt())
            except KeyboardInterrupt:
                continue  # what was typed is forgotten
            except (EOFError, LeaveShell):
                break
        self._session.close()

    def _run(self, text: str) -> None:
        if not text.strip():
            return
        terminal = self._session.terminal
        terminal.record(f"{_PROMPT}{text}")
        try:
            if not self._commands.run(text):
                self._session.run(text)
        except CommandError as failure:
            terminal.note(click.style(failure.message, fg="red"))
        except KeyboardInterrupt:
            terminal.line("Query terminated")
        self._learn_names()

    def _greet(self) -> None:
        client = self._session.client
        line = self._session.terminal.line
        try:
            found = client.info()
            line(f"Headwater SQL {__version__}, server {found['version']} at {client.url}")
        except CommandError as failure:
            self._session.terminal.note(click.style(failure.message, fg="red"))
        line("HELP tells what there is; Ctrl-D leaves.")

    def _learn_names(self) -> None:
        """Ask the server for names while the user types; completion has the old ones till then."""

        def learn() -> None:
            self._completer.names = Names.ask(self._session.client)

        threading.Thread(target=learn, name="sql-names", daemon=True).start()

    def _typed(self) -> list[str]:
        return list(reversed(list(self._history.load_history_strings())))


def is_complete(text: str) -> bool:
    """Tell whether Enter runs a text: it ends with a semicolon, or is a command of the shell.

    >>> is_complete("SELECT ';"), is_complete("SHOW STREAMS;"), is_complete("exit")
    (False, True, True)
    """
    if not text.strip() or words_of(text) is not None:
        return True
    if _OPEN.search(_CLOSED.sub("", text)):
        return False  # a semicolon in a text ends nothing
    try:
        return bool(list(split(text)))
    except SqlError:
        return False


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter", filter=~(has_completions & completion_is_selected))
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if is_complete(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    @keys.add("enter", filter=has_completions & completion_is_selected)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.complete_state = None  # the word is taken, and nothing is run yet

    return keys
