"""Which requests have to be handled by the leader, and what is said where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.registry.errors import (
    forwarding_failed,
    not_permitted,
    state_failed,
    unknown_leader,
)
from headwater.topic_state.leader_gate import LeaderGate, Refusals

if TYPE_CHECKING:
    from headwater.http.answers import Answer, Reply
    from headwater.http.forwarding import Forwarder
    from headwater.http.request import Request
    from headwater.registry.http.routes import RegistryRoute
    from headwater.registry.metrics import Metrics
    from headwater.registry.service import RegistryService

_NO_LEADER = b'"error_code":50004'


class RegistryGate:
    """Handles requests; those that write wait for a leader as long as `patience_s`."""

    def __init__(
        self, service: RegistryService, forwarder: Forwarder, metrics: Metrics, patience_s: float
    ) -> None:
        self._service = service
        self._leader = LeaderGate(
            service.writer, forwarder, _REFUSALS, patience_s, metrics.forwarded.inc
        )

    async def handle(self, route: RegistryRoute, request: Request) -> Reply:
        """Answer a request here, or have the leader answer it."""
        service = self._service
        if route.prepare is not None:
            found = await route.prepare(service, request)
            if found is not None:
                return found
        if not route.writes:
            return await route.handler(service, request)
        if service.read_only:
            raise not_permitted("This registry is read-only")
        # Registering twice is the same as once; other things are not.
        return await self._leader.handle(
            request, lambda: route.handler(service, request), may_repeat=route.prepare is not None
        )


def _is_no_leader(answer: Answer) -> bool:
    return answer.status == 500 and _NO_LEADER in answer.body


_REFUSALS = Refusals(
    no_leader=lambda reason: unknown_leader(f"Leader not known: {reason}"),
    no_answer=lambda reason: forwarding_failed(f"The leader did not answer: {reason}"),
    state_failed=state_failed,
    is_no_leader=_is_no_leader,
)
