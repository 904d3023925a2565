"""Connectors in files: JSON as it is sent to a worker, or Java properties."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from headwater.cli.errors import CommandError

if TYPE_CHECKING:
    from pathlib import Path


def read_connector(path: Path) -> tuple[str, dict[str, Any]]:
    """Return a connector's name and configuration; raises CommandError."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as failure:
        raise CommandError(f"{path}: {failure}") from None
    if path.suffix == ".properties" or not text.lstrip().startswith("{"):
        from headwater.config.properties import parse_properties

        config: dict[str, Any] = dict(parse_properties(text))
        name = config.get("name", "")
    else:
        try:
            content = json.loads(text)
        except ValueError as failure:
            raise CommandError(f"{path} is not JSON: {failure}") from None
        nested = content.get("config")
        config = nested if isinstance(nested, dict) else content
        name = content.get("name") or config.get("name", "")
    if not name:
        raise CommandError(f"{path}: the connector has no name; add name, such as name=my-source")
    return str(name), {**config, "name": str(name)}
