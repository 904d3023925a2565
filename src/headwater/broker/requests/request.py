"""One request on its way through the broker, and what a handler may answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from headwater.broker.authorizer import OPERATIONS_ON, refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from headwater.broker.authorizer import Resource
    from headwater.broker.broker import Broker
    from headwater.broker.quotas.request_throttle import RequestThrottle
    from headwater.broker.session import Session
    from headwater.log.segments.segment import FileSlice
    from headwater.protocol.acls import AclOperation, ResourceType
    from headwater.protocol.frames import RequestHeader

Part: TypeAlias = "bytes | FileSlice"
"""A piece of a response: bytes, or a region of a segment that goes out with `sendfile`."""

Response: TypeAlias = "bytes | list[Part]"
"""A response body, without its header."""

Handler: TypeAlias = "Callable[[Broker, Request], Response | Awaitable[Response | None] | None]"
"""Answers one API: at once, later, or never (a produce with acks=0)."""


class HangUp(Exception):  # noqa: N818 - it says what to do
    """Raised by a handler that can answer its client only by closing the connection."""


class Request:
    """A parsed header, the frame it came in, and who sent it."""

    __slots__ = ("header", "session", "throttle", "view", "waiting_bytes")

    is_audited = False
    """Whether somebody takes note of what it is allowed, so that it has to ask in any case."""

    def __init__(self, header: RequestHeader, view: memoryview, session: Session) -> None:
        self.header = header
        self.view = view
        """The whole frame without its size prefix; the body starts at `header.body`."""
        self.session = session
        self.throttle: RequestThrottle | None = None
        """What the request costs its client; None where nothing is limited."""
        self.waiting_bytes = 0
        """What it holds until its answer is there, where the handler knows that."""

    def authorize(
        self, operation: AclOperation, resource: Resource, *, is_covered: bool = False
    ) -> bool:
        """Whether the client may do this: asked by every handler for all that it touches.

        A no is a refusal, which is logged and counted. It `is_covered` where another right, which
        was probed, stands in for this one.
        """
        session = self.session
        if (
            is_covered
            or session.allows_all
            or session.authorizer.authorize(session, operation, resource)
        ):
            return True
        session.authorizer.denied(session, operation, resource)
        return False

    @property
    def need_not_ask(self) -> bool:
        """Whether it is known without asking that the client may do everything."""
        return self.session.allows_all and not self.is_audited

    def probe(self, operation: AclOperation, resource: Resource) -> bool:
        """Whether the client may do this, where a no refuses nothing.

        For what an answer leaves out, and for rights that another right can stand in for.
        """
        session = self.session
        return session.allows_all or session.authorizer.authorize(session, operation, resource)

    def require(
        self, operation: AclOperation, resource: Resource, *, is_covered: bool = False
    ) -> None:
        """Raise KafkaError unless the client may do this."""
        if not self.authorize(operation, resource, is_covered=is_covered):
            raise refusal(self.session, operation, resource)

    def authorize_by_type(self, operation: AclOperation, resource_type: ResourceType) -> bool:
        """Whether the client may do this to anything of a type."""
        session = self.session
        return session.allows_all or session.authorizer.authorize_by_type(
            session, operation, resource_type
        )

    def authorized_operations(self, resource: Resource) -> int:
        """Return the bit set of all that the client may do to a resource."""
        return sum(
            1 << operation
            for operation in OPERATIONS_ON[resource.type]
            if self.probe(operation, resource)
        )
