"""Secrets by reference: `${file:PATH:KEY}` and `${env:NAME}` in a connector's configuration.

They are looked up when a connector is opened. What is stored and shown has the references only.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.config import ConfigError
from headwater.config.properties import parse_properties

if TYPE_CHECKING:
    from collections.abc import Mapping

_REFERENCE = re.compile(r"\$\{(?P<provider>file|env):(?P<path>[^{}]*)\}")


def resolved(config: Mapping[str, str]) -> dict[str, str]:
    """Return a configuration with what its references stand for; raises ConfigError."""
    return {name: _resolved(name, value) for name, value in config.items()}


def hidden(text: str, config: Mapping[str, str]) -> str:
    """Return a text, such as an error, in which no secret of a configuration stands."""
    for name, value in config.items():
        if _REFERENCE.search(value) is None:
            continue
        try:
            secret = _resolved(name, value)
        except ConfigError:
            continue  # what is not there cannot be shown
        if secret:
            text = text.replace(secret, "[hidden]")
    return text


def _resolved(name: str, value: str) -> str:
    def look_up(match: re.Match[str]) -> str:
        if match["provider"] == "env":
            return _of_environment(name, match["path"], value)
        return _of_file(name, match["path"], value)

    return _REFERENCE.sub(look_up, value)


def _of_environment(name: str, variable: str, value: str) -> str:
    found = os.environ.get(variable)
    if found is None:
        reason = f"the worker's environment has no variable {variable}"
        raise ConfigError(name, value, reason)
    return found


def _of_file(name: str, reference: str, value: str) -> str:
    path, _, key = reference.rpartition(":")
    if not path:
        reason = "which key of the file? Write it as ${file:/path/to/secrets.properties:key}"
        raise ConfigError(name, value, reason)
    try:
        properties = parse_properties(Path(path).read_text())
    except (OSError, UnicodeDecodeError) as failure:
        raise ConfigError(name, value, f"the file cannot be read: {failure}") from None
    if key not in properties:
        raise ConfigError(name, value, f"{path} has no property {key}")
    return properties[key]
