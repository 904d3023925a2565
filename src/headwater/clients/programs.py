"""Where a program's cluster and registry are: said by it, its environment and the command line."""

from __future__ import annotations

import os
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.clients.cluster_access import ClusterAccess
from headwater.clients.registry_access import PREFIX, RegistryAccess

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True)
class CommandLine:
    """What a command line says, which wins over what programs say."""

    bootstrap_servers: str | None = None
    kafka: Mapping[str, str] = field(default_factory=dict)
    registry: Mapping[str, str] = field(default_factory=dict)


_NOTHING = CommandLine()
_given: ContextVar[CommandLine | None] = ContextVar("command_line", default=None)


@contextmanager
def given(command_line: CommandLine) -> Iterator[None]:
    """Let a command line win in all programs that are loaded in this block.

    Not afterwards: a program asks the registry for types while it is being built.
    """
    token = _given.set(command_line)
    try:
        yield
    finally:
        _given.reset(token)


def cluster_access(
    bootstrap_servers: str | None = None, kafka: Mapping[str, str] | None = None
) -> ClusterAccess:
    """Return where the cluster of a program is that says this much about it itself."""
    line = _given.get() or _NOTHING
    servers = line.bootstrap_servers or bootstrap_servers
    servers = servers or os.environ.get("HEADWATER_BOOTSTRAP_SERVER")
    properties = {**(kafka or {}), **line.kafka}
    return ClusterAccess(servers, properties) if servers else ClusterAccess(properties=properties)


def registry_access(
    url: str | None = None, properties: Mapping[str, str] | None = None
) -> RegistryAccess:
    """Return where the registry of a program is; raises InvalidPropertiesError.

    The properties have Confluent's names, as RegistryAccess.of takes them.
    """
    said = {} if url is None else {"url": url}
    line = _given.get() or _NOTHING
    layers = (registry_environment(), properties or {}, said, line.registry)
    found: dict[str, str] = {}
    for layer in layers:
        found |= {name.removeprefix(PREFIX): value for name, value in layer.items()}
    return RegistryAccess.of(found)


def registry_environment() -> dict[str, str]:
    """Return what the environment says of the registry, in Confluent's names."""
    found = {name: os.environ.get(variable) for name, variable in _VARIABLES.items()}
    return {name: value for name, value in found.items() if value}


_VARIABLES = {
    "url": "HEADWATER_REGISTRY",
    "basic.auth.user.info": "HEADWATER_REGISTRY_USER",
    "ssl.ca.location": "HEADWATER_REGISTRY_CA",
}
