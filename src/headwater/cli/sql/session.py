"""A session with a server: what each statement does here, and which ones are sent where."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.cli.errors import CommandError
from headwater.cli.sql.outputs import OUTPUTS
from headwater.cli.sql.terminal import Terminal
from headwater.sql.errors import SqlError
from headwater.sql.parser.parser import parse_statement
from headwater.sql.parser.splitting import split
from headwater.sql.tree.queries import Query
from headwater.sql.tree.statements.inspection import Listing, PrintTopic, Show
from headwater.sql.tree.statements.session import (
    DefineVariable,
    RunScript,
    SetProperty,
    Spool,
    UndefineVariable,
    UnsetProperty,
)
from headwater.sql.variables import Variables

if TYPE_CHECKING:
    from headwater.cli.sql.client import SqlClient
    from headwater.cli.sql.outputs import Output
    from headwater.sql.tree.statements.statement import Statement

_SCRIPTS_IN_SCRIPTS = 16


class Session:
    """Runs statements one by one: each is answered before the next is sent."""

    def __init__(self, client: SqlClient, output: str = "table", *, is_interactive: bool = False):
        self.client = client
        self.terminal = Terminal()
        self.variables = Variables()
        self.output_name = output
        self._tells = is_interactive  # a script's output is its results and nothing else
        self._scripts = 0

    @property
    def output(self) -> Output:
        """The way in which answers are written."""
        return OUTPUTS[self.output_name](self.terminal)

    def run(self, text: str) -> None:
        """Run all statements of a text; raises CommandError at the first that is refused."""
        closed = text if text.rstrip().endswith(";") else f"{text}\n;"
        try:
            for piece in split(closed):
                replaced = self.variables.substitute(piece.text)
                self._run_one(_read(replaced), f"{replaced};")
        except SqlError as refusal:
            raise CommandError(str(refusal)) from None

    def run_file(self, path: Path) -> None:
        """Run all statements of a file; raises CommandError."""
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as failure:
            raise CommandError(f"cannot read {path}: {failure.strerror}") from None
        except UnicodeDecodeError:
            raise CommandError(f"{path} is no text in UTF-8") from None
        if self._scripts >= _SCRIPTS_IN_SCRIPTS:
            raise CommandError(f"{path} is run by a script that it runs itself")
        self._scripts += 1
        try:
            self.run(text)
        finally:
            self._scripts -= 1

    def close(self) -> None:
        """Close the file of SPOOL."""
        self.terminal.end_spool()

    def _run_one(self, statement: Statement | None, text: str) -> None:
        match statement:
            case SetProperty(name, value):
                self.client.check_property(name)
                self.client.properties[name] = value
                self._tell(
                    f"Successfully changed local property '{name}' to '{value}'."
                    " Use the UNSET command to revert your change."
                )
            case UnsetProperty(name):
                self._unset(name)
            case DefineVariable(name, value):
                self.variables.define(name, value, statement.location)
            case UndefineVariable(name):
                if not self.variables.undefine(name):
                    raise CommandError(f"Cannot undefine variable '{name}' which was never defined")
            case Show(Listing.VARIABLES):
                self.output.entity(self._variables(text))
            case RunScript(path):
                self.run_file(Path(path).expanduser())
            case Spool(None):
                file = self.terminal.end_spool()
                self._tell("The session is not spooled." if file is None else f"Spooled to {file}.")
            case Spool(str(path)):
                self.terminal.spool(Path(path).expanduser())
                self._tell(f"Session will be spooled to {path}\nEnter SPOOL OFF to disable")
            case PrintTopic():
                for line in self.client.lines(text):
                    self.terminal.line(line)
            case Query():
                self.output.rows(self.client.rows(text))
            case _:
                for entity in self.client.statement(text):
                    self.output.entity(entity)

    def _unset(self, name: str) -> None:
        if name not in self.client.properties:
            raise CommandError(f"Cannot unset local property '{name}' which was never set")
        value = self.client.properties.pop(name)
        self._tell(f"Successfully unset local property '{name}' (value was '{value}').")

    def _variables(self, text: str) -> dict[str, Any]:
        listed = [{"name": name, "value": value} for name, value in sorted(self.variables)]
        return {"@type": "variables", "statementText": text, "variables": listed}

    def _tell(self, text: str) -> None:
        if self._tells:
            self.terminal.line(text)


def _read(text: str) -> Statement | None:
    """Return the statement; None for one that only the server may know, or refuses better."""
    try:
        return parse_statement(text)
    except SqlError:
        return None
