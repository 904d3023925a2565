"""What commands print: tables for people, tab-separated lines for pipes, JSON for programs."""

from __future__ import annotations

import base64
import json
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

json_option: Callable[[Any], Any] = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON instead of a table."
)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows: aligned and ruled on a terminal; else tabs, one header line and no colours."""
    if sys.stdout.isatty():
        _print_ruled(columns, rows)
        return
    click.echo("\t".join(columns))
    for row in rows:
        click.echo("\t".join(_cell(value) for value in row))


def print_json(value: object) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def json_bytes(data: bytes | None, name: str) -> dict[str, str | None]:
    """Return bytes as a JSON field: text if they are UTF-8, else base64 under `<name>_base64`."""
    if data is None:
        return {name: None}
    try:
        return {name: data.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(data).decode()}


def note(message: str) -> None:
    """Tell the user something on standard error, where it does not mix with results."""
    click.echo(message, err=True)


def _print_ruled(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    lines = list(rows)
    for position, column in enumerate(columns):
        numeric = all(isinstance(line[position], int) for line in lines)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for line in lines:
        table.add_row(*(Text(_cell(value)) for value in line))
    Console(highlight=False).print(table)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ",".join(str(item) for item in value) or "-"
    return str(value)
