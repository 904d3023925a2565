"""headwater.toml: one file for the platform, with a table for each service.

A service that is started alone takes its own table from it, and leaves the others alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Container
    from pathlib import Path


def service_settings(path: Path, service: str, own_names: Container[str] = ()) -> dict[str, str]:
    """Return the settings of a service in a file.

    That is a properties file, a TOML file of such names, or headwater.toml. `own_names` are
    settings that start with the service's name themselves, as `broker.id` does.
    """
    from headwater.broker.config.files import read_settings

    try:
        given = read_settings(path)
    except ValueError as failure:  # wrong TOML, wrong UTF-8 or a wrong kind of value
        raise click.BadParameter(f"{path}: {failure}", param_hint="--config") from None
    return _own(given, service, own_names) if path.suffix.lower() == ".toml" else given


def _own(given: dict[str, str], service: str, own_names: Container[str]) -> dict[str, str]:
    from headwater.up.ports import PORTS

    others = {"up", *PORTS} - {service}
    settings: dict[str, str] = {}
    for name, value in given.items():
        table, _, setting = name.partition(".")
        if table == service and setting and name not in own_names:
            settings[setting] = value
        elif table not in others:
            settings[name] = value
    return settings
