"""Which platform a command is about: the one of --data, of headwater.toml, or the one that runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Callable

data_option: Callable[[Any], Any] = click.option(
    "--data",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="The directory that `headwater up` was given.  [default: what headwater.toml says, else "
    "~/.headwater/up, or that of the platform that runs]",
)


CONFIG_FILE = Path("headwater.toml")
"""Read from the working directory if it is there."""


def read_tables(path: Path) -> dict[str, dict[str, str]]:
    """Return the tables of headwater.toml: `up`, and those of the services."""
    from headwater.config.toml import parse_toml

    try:
        flat = parse_toml(path.read_text("utf-8"))
    except ValueError as failure:
        raise click.UsageError(f"{path}: {failure}") from None
    tables: dict[str, dict[str, str]] = {}
    for name, value in flat.items():
        table, dot, key = name.partition(".")
        if not dot:
            raise click.UsageError(f"{path}: put '{name}' under [up], or under its service")
        tables.setdefault(table, {})[key] = value
    return tables


def platform_data(data: Path | None, config_file: Path | None = None) -> Path:
    """Return a platform's data directory."""
    from headwater.up.running import NotFoundError, likely_data

    if data is not None:
        return data
    if config_file is None and CONFIG_FILE.is_file():
        config_file = CONFIG_FILE
    if config_file is not None:
        in_file = read_tables(config_file).get("up", {}).get("data")
        if in_file is not None:
            return config_file.parent / in_file
    try:
        return likely_data()
    except NotFoundError as failure:
        raise CommandError(str(failure)) from None
