"""A request that tells the audit log what it was allowed to do, and what not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.broker.requests.request import Request

if TYPE_CHECKING:
    from headwater.broker.audit.audit_log import AuditLog
    from headwater.broker.authorizer import Resource
    from headwater.broker.session import Session
    from headwater.protocol.acls import AclOperation
    from headwater.protocol.frames import RequestHeader


class AuditedRequest(Request):
    """What the dispatcher makes of a frame where there is an audit log; else it is a Request."""

    __slots__ = ("_audit",)

    is_audited = True

    def __init__(
        self, header: RequestHeader, view: memoryview, session: Session, audit: AuditLog
    ) -> None:
        super().__init__(header, view, session)
        self._audit = audit

    def authorize(
        self, operation: AclOperation, resource: Resource, *, is_covered: bool = False
    ) -> bool:
        """Decide as without an audit log, and tell."""
        is_allowed = super().authorize(operation, resource, is_covered=is_covered)
        self._audit.note(self, operation, resource, is_allowed)
        return is_allowed
