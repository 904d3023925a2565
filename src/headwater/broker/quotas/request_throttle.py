"""One request and its client's quotas: what it costs, and how long the client has to wait for it.

A throttled request is answered at once, with the time to wait in its response, and for that time
nothing more is read from its connection. So a client that ignores the time is held back as well.
"""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING, Protocol

from headwater.broker.quotas.client_quotas import clock_ms
from headwater.broker.quotas.limit import Client
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode, KafkaError
from headwater.protocol.throttle_time import with_throttle_time

if TYPE_CHECKING:
    from headwater.broker.quotas.client_quotas import ClientQuotas
    from headwater.broker.requests.request import Response
    from headwater.broker.session import Session
    from headwater.protocol.frames import RequestHeader

_PERCENT_PER_NS = 100 / 1_000_000_000
_MOST_MS = 2**31 - 1
"""What a response has room for."""
_EXEMPT_FROM_TIME = {ApiKey.WRITE_TXN_MARKERS}
"""What brokers say to each other."""


class Mutable(Protocol):
    """A connection that can be left unread."""

    def mute(self, seconds: float) -> None:
        """Read nothing for so long."""


class RequestThrottle:
    """Follows one request: `handled` after its handler, `answered` before its response leaves."""

    __slots__ = (
        "_busy_ns", "_client", "_connection", "_header", "_muted_ms", "_quotas", "_size",
        "_started_ns", "_throttle_ms",
    )  # fmt: skip

    def __init__(
        self,
        quotas: ClientQuotas,
        connection: Mutable,
        session: Session,
        header: RequestHeader,
        size: int,
    ) -> None:
        self._quotas = quotas
        self._connection = connection
        self._header = header
        self._size = size
        self._client = Client(session.principal.name, header.client_id or "")
        self._busy_ns = 0
        self._throttle_ms = 0
        self._muted_ms = 0
        self._started_ns = perf_counter_ns()

    def handled(self) -> None:
        """Note how long the handler kept the broker busy, and charge a produce for its bytes.

        The connection of a produce is muted right away: its next one may be on its way already.
        """
        self._busy_ns = perf_counter_ns() - self._started_ns
        if self._header.api_key is ApiKey.PRODUCE:
            quota = self._quotas.produced_bytes
            self._wait(quota.charge(self._client, self._size, clock_ms()))
            self._mute()

    def answered(self, body: Response | None) -> Response | None:
        """Charge for the time, and put the time to wait into the response."""
        header = self._header
        if body is not None and header.api_key not in _EXEMPT_FROM_TIME:
            throttle_ms = self._quotas.request_time.charge(
                self._client, self._busy_ns * _PERCENT_PER_NS, clock_ms()
            )
            if header.api_key is not ApiKey.FETCH:
                self._wait(min(throttle_ms, self._quotas.longest_wait_ms))
        if self._throttle_ms:
            self._mute()
            if isinstance(body, bytes):
                body = with_throttle_time(
                    header.api_key, header.api_version, body, self._throttle_ms
                )
        return body

    def most_fetch_bytes(self) -> float:
        """Return the size above which a fetch is sure to be throttled."""
        usage = self._quotas.fetched_bytes.usage_of(self._client, clock_ms())
        return float("inf") if usage is None else usage.measure.most_at_once

    def admit_fetch(self, size: int) -> int:
        """Charge a fetch for its bytes; a time to wait is returned instead, and they must not go.

        The time that the fetch takes is charged when it is over, and throttles the next one.
        """
        now_ms = clock_ms()
        usage = self._quotas.fetched_bytes.usage_of(self._client, now_ms)
        if usage is not None:
            self._wait(usage.charge(size, now_ms))
        time_used = self._quotas.request_time.charge(self._client, 0, now_ms)
        self._wait(min(time_used, self._quotas.longest_wait_ms))
        if self._throttle_ms and usage is not None:
            usage.measure.record(-size, now_ms)
        return self._throttle_ms

    def charge_mutation(self, partitions: int, *, strict: bool) -> None:
        """Charge for partitions that come or go; raises KafkaError if that is too much at once.

        Clients that are too old to know that error are made to wait afterwards.
        """
        now_ms = clock_ms()
        usage = self._quotas.mutations.usage_of(self._client, now_ms)
        if usage is None:
            return
        if strict and (throttle_ms := usage.check(now_ms)):
            self._wait(throttle_ms)
            raise KafkaError(
                ErrorCode.THROTTLING_QUOTA_EXCEEDED,
                f"the client may change {usage.measure.bound:g} partitions a second"
                f" (controller_mutation_rate); try again in {throttle_ms} ms",
            )
        usage.measure.record(partitions, now_ms)
        if not strict:
            self._wait(usage.check(now_ms))

    def _wait(self, milliseconds: int) -> None:
        self._throttle_ms = min(max(self._throttle_ms, milliseconds), _MOST_MS)

    def _mute(self) -> None:
        if self._throttle_ms > self._muted_ms:
            self._muted_ms = self._throttle_ms
            self._connection.mute(self._throttle_ms / 1000)
