"""Secrets by reference in a connector's configuration, as in `${file:PATH:KEY}` and `${env:NAME}`.

They are looked up when a connector is opened. What is stored and shown has the references only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.config import ConfigError
from headwater.config.references import References, UnresolvedReferenceError

if TYPE_CHECKING:
    from collections.abc import Mapping

_REFERENCES = References()


def resolved(config: Mapping[str, str]) -> dict[str, str]:
    """Return a configuration with what its references stand for; raises ConfigError."""
    return {name: _resolved(name, value) for name, value in config.items()}


def hidden(text: str, config: Mapping[str, str]) -> str:
    """Return a text, such as an error, in which no secret of a configuration stands."""
    for name, value in config.items():
        try:
            secret = _resolved(name, value)
        except ConfigError:
            continue  # what is not there cannot be shown
        if secret and secret != value:
            text = text.replace(secret, "[hidden]")
    return text


def _resolved(name: str, value: str) -> str:
    try:
        return _REFERENCES.resolve(value)
    except UnresolvedReferenceError as failure:
        raise ConfigError(name, value, str(failure)) from None
