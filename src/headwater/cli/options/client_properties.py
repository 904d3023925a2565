"""Client properties files, as Kafka's tools take them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from headwater.clients.errors import InvalidPropertiesError
from headwater.clients.shared_properties import split_properties

if TYPE_CHECKING:
    from pathlib import Path


def read_client_properties(path: Path | None) -> tuple[dict[str, str], dict[str, str]]:
    """Return what a file of --command-config says for Kafka's clients, and for the registry's."""
    if path is None:
        return {}, {}
    from headwater.config.properties import parse_properties

    try:
        return split_properties(parse_properties(path.read_text("utf-8")))
    except (InvalidPropertiesError, UnicodeDecodeError) as failure:
        raise click.BadParameter(str(failure), param_hint="--command-config") from None
