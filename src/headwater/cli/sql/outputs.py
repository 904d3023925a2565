"""What a server answers, as tables for people, as JSON or as CSV for programs."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING, Any, Protocol

from headwater.cli.errors import CommandError
from headwater.cli.sql.entities import cell, entity_lines, listing_of
from headwater.cli.sql.tables import RowTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from headwater.cli.sql.terminal import Terminal

_COLUMN = re.compile(r"(?:^|, )`((?:[^`]|``)*)` ")


class Output(Protocol):
    """One of the ways."""

    def entity(self, entity: dict[str, Any]) -> None:
        """Write what answers a statement."""

    def rows(self, parts: Iterable[dict[str, Any]]) -> None:
        """Write what answers a query, as it comes; raises CommandError for a failed one."""


class JsonOutput:
    """A line of JSON for each answer and each row, as the server sent it."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def entity(self, entity: dict[str, Any]) -> None:
        """Write a line."""
        self._terminal.line(json.dumps(entity))

    def rows(self, parts: Iterable[dict[str, Any]]) -> None:
        """Write a line for each part."""
        for part in parts:
            self._terminal.line(json.dumps(part))


class TableOutput:
    """Tables that fit the terminal; in a pipe, lines with a bar between cells."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def entity(self, entity: dict[str, Any]) -> None:
        """Write a table, or what else tells most."""
        terminal = self._terminal
        for line in entity_lines(entity, terminal.width, wraps=terminal.is_wrapping):
            terminal.line(line)

    def rows(self, parts: Iterable[dict[str, Any]]) -> None:
        """Write rows under the names of their columns."""
        table: RowTable | None = None

        def head(names: list[str]) -> None:
            nonlocal table
            width = self._terminal.width
            if width is None:
                self._terminal.line(" | ".join(names))
                return
            table = RowTable(names, width, wraps=self._terminal.is_wrapping)
            self._write(table.head())

        def row(columns: list[Any]) -> None:
            cells = [cell(value) for value in columns]
            self._write([" | ".join(cells)] if table is None else table.row(cells))

        _read(parts, head, row, self._terminal)

    def _write(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._terminal.line(line)


class CsvOutput:
    """Comma-separated values under a line of names."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def entity(self, entity: dict[str, Any]) -> None:
        """Write a list's rows; what is no list is written as for people."""
        listing = listing_of(entity)
        if listing is None:
            for line in entity_lines(entity, None):
                self._terminal.line(line)
            return
        titles, rows = listing
        for row in [titles, *rows]:
            self._row(row)

    def rows(self, parts: Iterable[dict[str, Any]]) -> None:
        """Write a line for each row; null is an empty cell."""
        _read(parts, self._row, self._values, self._terminal)

    def _values(self, columns: list[Any]) -> None:
        self._row(["" if value is None else cell(value) for value in columns])

    def _row(self, cells: Sequence[str]) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="").writerow(cells)
        self._terminal.line(text.getvalue())


OUTPUTS: dict[str, Callable[[Terminal], Output]] = {
    "table": TableOutput,
    "json": JsonOutput,
    "csv": CsvOutput,
}


def _read(
    parts: Iterable[dict[str, Any]],
    head: Callable[[list[str]], None],
    row: Callable[[list[Any]], None],
    terminal: Terminal,
) -> None:
    for part in parts:
        if "header" in part:
            names = _COLUMN.findall(part["header"]["schema"])
            head([name.replace("``", "`") for name in names])
        elif "row" in part:
            row(part["row"]["columns"])
        elif "finalMessage" in part:
            terminal.note(part["finalMessage"])
        elif "message" in part:
            raise CommandError(str(part["message"]))
