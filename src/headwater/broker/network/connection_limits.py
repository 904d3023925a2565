"""How many connections there may be, in all and from one address, and how fast they may come."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from headwater.broker.quotas.client_quotas import clock_ms

if TYPE_CHECKING:
    from headwater.broker.config import BrokerConfig
    from headwater.broker.quotas.client_quotas import ClientQuotas


class ConnectionLimits:
    """Counts connections and says whom the limits leave out; a changed limit counts at once."""

    def __init__(self, config: BrokerConfig, quotas: ClientQuotas) -> None:
        self._config = config
        self._quotas = quotas
        self._by_address: Counter[str] = Counter()
        self._total = 0
        self._overrides: dict[str, int] = {}
        self._read_overrides()
        config.on_change(self._read_overrides)

    def admit(self, address: str) -> str | None:
        """Count one more connection, or return the reason why there may not be one more."""
        most = self._config.integer("max.connections")
        if self._total >= most:
            return f"there are {self._total} already (max.connections)"
        here = self._by_address[address]
        per_address = self._overrides.get(address)
        if per_address is None:
            per_address = self._config.integer("max.connections.per.ip")
        if here >= per_address:
            return f"it has {here} already (max.connections.per.ip)"
        self._by_address[address] = here + 1
        self._total += 1
        return None

    def delay_ms(self, address: str) -> int:
        """Return how long a connection is to be held off because its address is too fast."""
        quotas = self._quotas
        if not quotas.connections:
            return 0
        now_ms = clock_ms()
        usage = quotas.connections.usage_of(address, now_ms)
        delay_ms = 0 if usage is None else usage.charge(1, now_ms)
        if delay_ms and usage is not None:
            usage.measure.record(-1, now_ms)
        return min(delay_ms, quotas.longest_wait_ms)

    def release(self, address: str) -> None:
        """Count one connection less."""
        self._total -= 1
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]

    def _read_overrides(self) -> None:
        text = self._config.text("max.connections.per.ip.overrides") or ""
        pairs = (pair.strip().rpartition(":") for pair in text.split(",") if ":" in pair)
        self._overrides = {address: int(limit) for address, _, limit in pairs if limit.isdigit()}
