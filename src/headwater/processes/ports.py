"""Ports of this machine: any that are free, and kept for the processes that shall listen there."""

from __future__ import annotations

import socket
import sys
from contextlib import suppress

EVERYWHERE = ("0.0.0.0", "::", "*")
"""What stands for every address of this machine."""


def reachable(host: str) -> str:
    """Return the address by which this machine reaches a service that listens on `host`."""
    return {"0.0.0.0": "127.0.0.1", "*": "127.0.0.1", "::": "::1"}.get(host, host)


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that has a port, any for 0, and does not listen; raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("" if host in EVERYWHERE else host, port))
    except BaseException:
        taken.close()
        raise
    return taken


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Tell whether a service could listen here."""
    try:
        bound(host, port).close()
    except OSError:
        return False
    return True


class FreePorts:
    """Picks free ports, and keeps them for the services while they start, stop and restart."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._reserved: list[socket.socket] = []

    def pick(self) -> int:
        """Return a port that nobody has."""
        taken = bound(self._host, 0)
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
