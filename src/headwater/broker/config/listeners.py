"""Parses listeners, advertised.listeners and listener.security.protocol.map."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from headwater.config import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SECURITY_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


class Endpoint(NamedTuple):
    """One listener: its name, the security protocol it speaks, and where. No host means all."""

    name: str
    protocol: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.name}://{host}:{self.port}"


def parse_protocol_map(text: str) -> dict[str, str]:
    """Parse `NAME:PROTOCOL,...` into the protocol of each listener name."""
    setting = "listener.security.protocol.map"
    protocols: dict[str, str] = {}
    for entry in filter(None, re.split(r"\s*,\s*", text.strip())):
        name, colon, protocol = (part.strip() for part in entry.rpartition(":"))
        if not colon or not name:
            raise ConfigError(setting, text, f"{entry} is not of the form NAME:PROTOCOL")
        if protocol.upper() not in SECURITY_PROTOCOLS:
            raise ConfigError(
                setting,
                text,
                f"{protocol} is no security protocol; there are {', '.join(SECURITY_PROTOCOLS)}",
            )
        if name.upper() in protocols:
            raise ConfigError(setting, text, f"{name.upper()} is there twice")
        protocols[name.upper()] = protocol.upper()
    return protocols


def parse_endpoints(
    setting: str, texts: Sequence[str], protocols: Mapping[str, str]
) -> tuple[Endpoint, ...]:
    """Parse the `NAME://host:port` entries of a setting and check that the names differ."""
    endpoints = tuple(_parse_endpoint(setting, text, protocols) for text in texts)
    for name, count in Counter(endpoint.name for endpoint in endpoints).items():
        if count > 1:
            raise ConfigError(
                setting, ",".join(texts), f"each listener needs a name of its own; {name} is not"
            )
    return endpoints


def check_ports(setting: str, endpoints: Sequence[Endpoint]) -> None:
    """Refuse two listeners on one port, unless one is IPv4 and the other IPv6."""
    by_port: dict[int, list[Endpoint]] = {}
    for endpoint in endpoints:
        if endpoint.port != 0:
            by_port.setdefault(endpoint.port, []).append(endpoint)
    for port, sharing in by_port.items():
        if len(sharing) == 1:
            continue
        if sorted(_ip_version(endpoint.host) for endpoint in sharing) != [4, 6]:
            raise ConfigError(
                setting,
                ",".join(map(str, endpoints)),
                f"each listener needs a port of its own, or port {port} must be shared by exactly"
                " one IPv4 and one IPv6 address",
            )


_ENDPOINT = re.compile(r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]+)")


def _parse_endpoint(setting: str, text: str, protocols: Mapping[str, str]) -> Endpoint:
    match = _ENDPOINT.fullmatch(text.strip())
    if match is None or not match[1]:
        raise ConfigError(setting, text, "it is not of the form NAME://host:port")
    name, host, port = match[1].upper(), match[2], int(match[3])
    if name not in protocols:
        raise ConfigError(
            setting,
            text,
            f"listener.security.protocol.map says nothing of {name}; add {name}:PLAINTEXT to it,"
            f" or use one of {', '.join(protocols)}",
        )
    if not 0 <= port <= 65535:
        raise ConfigError(setting, text, f"{port} is no port; ports go from 0 to 65535")
    return Endpoint(name, protocols[name], host, port)


def _ip_version(host: str) -> int:
    import ipaddress

    try:
        return ipaddress.ip_address(host).version
    except ValueError:
        return 0
