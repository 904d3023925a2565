"""Quotas: how much users, client ids and addresses may use."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.clients.raw.quotas import alter_quotas, list_quotas

if TYPE_CHECKING:
    from headwater.clients.raw.quotas import Entity, Quota
    from headwater.console.model.cluster import Cluster

KINDS = {"user": "User", "client-id": "Client id", "ip": "Address"}
LIMITS = {
    "producer_byte_rate": "bytes a second that they may write",
    "consumer_byte_rate": "bytes a second that they may read",
    "request_percentage": "percent of a broker's time that their requests may take",
    "controller_mutation_rate": "partitions a second that they may create and delete",
    "connection_creation_rate": "connections a second that they may open",
}


class QuotaChange(NamedTuple):
    """What somebody typed."""

    kind: str
    name: str
    """Empty for all that have none of their own."""
    limit: str
    value: str
    """Empty takes it away."""

    @property
    def entity(self) -> Entity:
        """Whom it is for."""
        return {self.kind: self.name.strip() or None}

    @property
    def words(self) -> str:
        """It as it is written down."""
        return f"{self.kind} {self.name.strip() or '<default>'}: {self.limit}={self.value.strip()}"


class Quotas:
    """All methods block, and raise ClientError."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def all(self) -> list[Quota]:
        """Return all of them."""
        return list_quotas(self._cluster.raw)

    def alter(self, change: QuotaChange) -> None:
        """Set a limit, or take it away; raises ValueError for what is no number."""
        text = change.value.strip()
        try:
            value = float(text) if text else None
        except ValueError:
            raise ValueError(f"'{text}' is not a number") from None
        alter_quotas(self._cluster.raw, change.entity, {change.limit: value}, validate_only=False)
