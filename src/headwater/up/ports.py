"""Ports: Kafka's and Confluent's by default, moved together, or any that are free."""

from __future__ import annotations

import socket
import sys
from contextlib import suppress

PORTS = {"broker": 9092, "registry": 8081}

_EVERYWHERE = ("0.0.0.0", "::", "*")


class PortTakenError(Exception):
    """Something else listens where a service should."""


def reachable(host: str) -> str:
    """Return the address by which this machine reaches a service that listens on `host`."""
    return {"0.0.0.0": "127.0.0.1", "*": "127.0.0.1", "::": "::1"}.get(host, host)


def check_free(name: str, host: str, port: int) -> None:
    """Raise PortTakenError if a service could not listen here; else it would fail later on."""
    try:
        _bound(host, port).close()
    except OSError as failure:
        raise PortTakenError(
            f"port {port}, where the {name} should listen, cannot be had on {host} "
            f"({failure.strerror}). Stop what listens there, or move all ports, for example with "
            "--port-offset 10000"
        ) from None


class FreePorts:
    """Picks free ports, and keeps them for the services while they start, stop and restart."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._reserved: list[socket.socket] = []

    def pick(self) -> int:
        """Return a port that nobody has."""
        taken = _bound(self._host, 0)
        port: int = taken.getsockname()[1]
        if sys.platform == "linux":
            # Bound but not listening: it is given to nobody else, and the service, which asks for
            # this very port, may have it nevertheless. Elsewhere it could not.
            self._reserved.append(taken)
        else:
            taken.close()
        return port

    def close(self) -> None:
        """Give the ports back."""
        for taken in self._reserved:
            with suppress(OSError):
                taken.close()


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    probe = socket.socket(family, socket.SOCK_STREAM)
    try:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("" if host in _EVERYWHERE else host, port))
    except BaseException:
        probe.close()
        raise
    return probe
