"""When certificates of servers expire: of brokers that speak TLS, and of others by address."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from headwater.clients.raw.certificates import server_certificate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

logger = logging.getLogger("headwater.monitor")

LOOK_EVERY_S = 600.0
"""Certificates change rarely, and each look is a handshake."""


class CertificateWatch:
    """Shakes hands with each address now and then, and keeps what it was shown."""

    def __init__(self, addresses: Iterable[str]) -> None:
        self._addresses = tuple(addresses)
        self._expiry: dict[str, float] = {}
        self._silent: set[str] = set()
        self._next_look = float("-inf")

    def look(self, now: float) -> Mapping[str, float]:
        """Return when each certificate expires; what does not answer keeps what was last seen."""
        if now >= self._next_look:
            self._next_look = now + LOOK_EVERY_S
            for address in self._addresses:
                self._ask(address)
        return dict(self._expiry)

    def _ask(self, address: str) -> None:
        try:
            self._expiry[address] = expiry_of(address)
        except (OSError, ValueError) as failure:
            if address not in self._silent:
                logger.warning("the certificate of %s cannot be seen: %s", address, failure)
            self._silent.add(address)
        else:
            self._silent.discard(address)


def expiry_of(address: str) -> float:
    """Return when a server's certificate expires, as `time.time` counts.

    Whoever signed it, and whomever it is for: it is looked at, and not trusted.
    Raises OSError, and ValueError if what was shown is no certificate.
    """
    return server_certificate(address).not_after.timestamp()
