"""Which requests have to be handled by the worker that leads, and what is said without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.connect.worker.errors import no_leader, state_failed
from headwater.topic_state.leader_gate import LeaderGate, Refusals

if TYPE_CHECKING:
    from headwater.connect.worker.http.routes import ConnectRoute
    from headwater.connect.worker.service import ConnectService
    from headwater.http.answers import Reply
    from headwater.http.forwarding import Forwarder
    from headwater.http.request import Request
    from headwater.topic_state.writer import Writer

_PATIENCE_S = 30.0
_REFUSALS = Refusals(
    no_leader=no_leader,
    no_answer=lambda reason: no_leader(f"the leader did not answer: {reason}"),
    state_failed=state_failed,
    is_no_leader=lambda answer: answer.status == 503,
)


class ConnectGate:
    """Answers requests here, or has the leader answer them; waits a while for there to be one."""

    def __init__(
        self,
        service: ConnectService,
        writer: Writer,
        forwarder: Forwarder,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        self._service = service
        self._leader = LeaderGate(writer, forwarder, _REFUSALS, patience_s)

    async def handle(self, route: ConnectRoute, request: Request) -> Reply:
        """Answer a request."""
        if not route.by_leader:
            return await route.handler(self._service, request)
        return await self._leader.handle(request, lambda: route.handler(self._service, request))
