"""All quotas of the broker: what is set for whom, and one `Quota` for each thing it limits."""

from __future__ import annotations

from functools import partial
from time import perf_counter_ns
from typing import TYPE_CHECKING

from headwater.broker.quotas.alteration import (
    CONNECTION_CREATION_RATE,
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
)
from headwater.broker.quotas.limit import Client, limit_of_address, limit_of_client
from headwater.broker.quotas.quota import Quota
from headwater.broker.quotas.rate import SampledRate
from headwater.broker.quotas.token_bucket import TokenBucket

if TYPE_CHECKING:
    from headwater.broker.config import BrokerConfig
    from headwater.broker.quotas.entity import Entity, Quotas


class ClientQuotas:
    """What clients may use. `limits_requests` is false where no request has to be looked at."""

    def __init__(self, config: BrokerConfig) -> None:
        samples = config.integer("quota.window.num")
        window_ms = config.integer("quota.window.size.seconds") * 1000
        rate = partial(SampledRate, samples=samples, window_ms=window_ms)
        self.produced_bytes: Quota[Client, SampledRate] = Quota(limit_of_client, rate)
        self.fetched_bytes: Quota[Client, SampledRate] = Quota(limit_of_client, rate)
        self.request_time: Quota[Client, SampledRate] = Quota(limit_of_client, rate)
        """In percent of the time of the one thread that serves requests."""
        self.mutations: Quota[Client, TokenBucket] = Quota(
            limit_of_client,
            partial(
                TokenBucket,
                samples=config.integer("controller.quota.window.num"),
                window_ms=config.integer("controller.quota.window.size.seconds") * 1000,
            ),
        )
        self.connections: Quota[str, SampledRate] = Quota(limit_of_address, rate)
        self.longest_wait_ms = window_ms
        """The longest that the quotas on time and on connections throttle at once."""
        self.limits_requests = False
        self.entries: dict[Entity, dict[str, float]] = {}

    def update(self, changes: Quotas) -> None:
        """Replace what is set for some entities; those without quotas are forgotten."""
        for entity, values in changes.items():
            if values:
                self.entries[entity] = dict(values)
            else:
                self.entries.pop(entity, None)
        by_client = {
            PRODUCER_BYTE_RATE: self.produced_bytes,
            CONSUMER_BYTE_RATE: self.fetched_bytes,
            REQUEST_PERCENTAGE: self.request_time,
        }
        for key, quota in by_client.items():
            quota.set_limits(self._limits(key))
        self.mutations.set_limits(self._limits(CONTROLLER_MUTATION_RATE))
        self.connections.set_limits(
            {
                tuple((kind, _canonical(address)) for kind, address in entity): rate
                for entity, rate in self._limits(CONNECTION_CREATION_RATE).items()
            }
        )
        self.limits_requests = any(by_client.values()) or bool(self.mutations)

    def _limits(self, key: str) -> dict[Entity, float]:
        return {entity: quotas[key] for entity, quotas in self.entries.items() if key in quotas}


def _canonical(address: str | None) -> str | None:
    from ipaddress import ip_address  # which few brokers need

    return None if address is None else str(ip_address(address))


def clock_ms() -> int:
    """Return the time that use is measured in; it never goes back."""
    return perf_counter_ns() // 1_000_000
