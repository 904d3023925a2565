"""What `headwater up` was asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.up.timing import Timing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.security.kit import SecurityKit


def default_data() -> Path:
    """Return where all data is kept unless something else is said."""
    return Path.home() / ".headwater" / "up"


@dataclass(frozen=True)
class PlatformSettings:
    """What `headwater up` was asked for, on the command line or in headwater.toml."""

    data: Path = field(default_factory=default_data)
    host: str = "127.0.0.1"
    port_offset: int = 0
    free_ports: bool = False
    # Which services to run: these, or the usual ones; with some more, and without others.
    services: tuple[str, ...] | None = None
    with_services: tuple[str, ...] = ()
    without_services: tuple[str, ...] = ()
    # An existing cluster, instead of a broker of one's own.
    bootstrap_server: str | None = None
    # A file with what clients of that cluster need, such as passwords.
    command_config: Path | None = None
    # The keys of a platform that is secured.
    security: SecurityKit | None = None
    # Whether services may listen beyond this machine without asking anybody who they are.
    insecure: bool = False
    # Which broker to start: ours, or so many nodes of Apache Kafka.
    engine: str = "embedded"
    brokers: int | None = None
    controllers: int | None = None
    racks: tuple[str, ...] = ()
    timing: Timing = field(default_factory=Timing)
    # Settings of the services themselves, by service.
    properties: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
