"""Certificates: who shows one, for whom it is, and until when it is good."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from headwater.clients.raw.certificates import server_certificate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.clients import ClusterAccess
    from headwater.clients.raw.certificates import ServerCertificate
    from headwater.console.model.cluster import Cluster

_WITHIN_S = 3.0
_AT_ONCE = 8


class ShownCertificate(NamedTuple):
    """What a server showed, or why it showed nothing."""

    who: str
    address: str
    certificate: ServerCertificate | None
    problem: str

    @property
    def days_left(self) -> int | None:
        """For how many days it is good; less than none for one that was."""
        if self.certificate is None:
            return None
        return (self.certificate.not_after - datetime.now(UTC)).days


class Certificates:
    """Shakes hands with the brokers and the services that speak TLS. All methods block."""

    def __init__(
        self, cluster: Cluster, access: ClusterAccess, services: Mapping[str, str]
    ) -> None:
        self._cluster = cluster
        self._has_tls = access.properties.get("security.protocol", "").upper().endswith("SSL")
        self._services = services

    def all(self) -> Sequence[ShownCertificate]:
        """Return all of them, those that expire first in front; raises ClientError."""
        places = [
            (name, urlsplit(url).netloc)
            for name, url in self._services.items()
            if url.startswith("https:")
        ]
        if self._has_tls:
            brokers = self._cluster.look().state.brokers
            places += [(f"broker {each.id}", each.address) for each in brokers]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            found = list(pool.map(lambda place: _shown(*place), places))
        # What was not seen needs a look first.
        return sorted(found, key=lambda each: (each.days_left or 0, each.who))


def _shown(who: str, address: str) -> ShownCertificate:
    try:
        return ShownCertificate(who, address, server_certificate(address, _WITHIN_S), "")
    except (OSError, ValueError) as failure:
        return ShownCertificate(who, address, None, str(failure))
