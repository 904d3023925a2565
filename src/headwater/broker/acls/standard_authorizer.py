"""Decides by ACLs, as Kafka's StandardAuthorizer does, and remembers what it has decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.broker.acls.acl import ANYBODY, WILDCARD
from headwater.broker.acls.acl_index import AclIndex
from headwater.broker.acls.addresses import spelled_alike
from headwater.broker.acls.denials import Denials
from headwater.broker.authorizer import Resource
from headwater.protocol.acls import AclOperation, PatternType, PermissionType, ResourceType

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from headwater.broker.acls.acl import Acl, ResourcePattern
    from headwater.broker.config import BrokerConfig
    from headwater.broker.session import Principal, Session

_IMPLIED_BY = {
    AclOperation.DESCRIBE: frozenset(
        (AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE, AclOperation.ALTER)
    ),
    AclOperation.DESCRIBE_CONFIGS: frozenset((AclOperation.ALTER_CONFIGS,)),
}
"""Who may do one of these may also do that; who is denied one of these is not denied that."""
_NONE: frozenset[AclOperation] = frozenset()
_NO_RESOURCE = "hardcode"
"""Stands for a resource that has no ACLs of its own; Kafka asks about the same."""
_MOST_DECISIONS = 100_000
"""Beyond, all are forgotten: nobody shall fill the memory with questions about made-up names."""


class StandardAuthorizer:
    """Nobody may do anything but super users and who has an ACL for it; a DENY always wins.

    Asked anew only after the ACLs have changed: what was decided for a principal, its host, an
    operation and a resource is kept until then.
    """

    def __init__(self, super_users: Iterable[str], *, allows_if_no_acl: bool = False) -> None:
        self.acls = AclIndex()
        self.denials = Denials()
        self._super_users = frozenset(super_users)
        self._allows_if_no_acl = allows_if_no_acl
        self._decisions: dict[tuple[Principal, str, AclOperation, Resource], bool] = {}
        self._by_type: dict[tuple[Principal, str, AclOperation, ResourceType], bool] = {}

    def allows_all(self, principal: Principal) -> bool:
        """Whether this is a super user."""
        return str(principal) in self._super_users

    def authorize(self, session: Session, operation: AclOperation, resource: Resource) -> bool:
        """Whether the ACLs let a client do something."""
        key = (session.principal, session.client_host, operation, resource)
        decision = self._decisions.get(key)
        if decision is None:
            if len(self._decisions) >= _MOST_DECISIONS:
                self._decisions.clear()
            decision = self._decisions[key] = self._decide(session, operation, resource)
        return decision

    def authorize_by_type(
        self, session: Session, operation: AclOperation, resource_type: ResourceType
    ) -> bool:
        """Whether the ACLs let a client do something to at least one resource of a type."""
        key = (session.principal, session.client_host, operation, resource_type)
        decision = self._by_type.get(key)
        if decision is None:
            if len(self._by_type) >= _MOST_DECISIONS:
                self._by_type.clear()
            decision = self._by_type[key] = self._decide_by_type(session, operation, resource_type)
        return decision

    def denied(self, session: Session, operation: AclOperation, resource: Resource) -> None:
        """Note that a client was refused."""
        self.denials.note(session, operation, resource)

    def change(self, added: Iterable[Acl], removed: Iterable[Acl] = ()) -> None:
        """Take over changes of the ACLs; from now on they are decided by."""
        for acl in added:
            self.acls.add(acl)
        for acl in removed:
            self.acls.remove(acl)
        self._decisions.clear()
        self._by_type.clear()

    def _decide(self, session: Session, operation: AclOperation, resource: Resource) -> bool:
        found = self.acls.about(resource)
        if not found:
            return self._allows_if_no_acl
        hosts = _hosts(session.client_host)
        is_allowed = False
        for by_principal in found:
            for principal in (str(session.principal), ANYBODY):
                for acl in by_principal.get(principal, ()):
                    if spelled_alike(acl.host) not in hosts or not _speaks_of(acl, operation):
                        continue
                    if acl.permission is PermissionType.DENY:
                        return False
                    is_allowed = True
        return is_allowed

    def _decide_by_type(
        self, session: Session, operation: AclOperation, resource_type: ResourceType
    ) -> bool:
        if self.authorize(session, operation, Resource(resource_type, _NO_RESOURCE)):
            return True
        hosts = _hosts(session.client_host)
        allowed, denied = [], set()
        for acl in self.acls.of_type(resource_type, (str(session.principal), ANYBODY)):
            if spelled_alike(acl.host) not in hosts or acl.operation not in (
                operation,
                AclOperation.ALL,
            ):
                continue
            if acl.permission is PermissionType.ALLOW:
                allowed.append(acl.pattern)
            elif _is_wildcard(acl.pattern):
                return False
            else:
                denied.add(acl.pattern)
        # A right is worth something unless a denial covers all of it.
        return any(
            _is_wildcard(pattern)
            or (
                pattern not in denied
                and not any(
                    pattern._replace(pattern_type=PatternType.PREFIXED, name=pattern.name[:length])
                    in denied
                    for length in range(1, len(pattern.name) + 1)
                )
            )
            for pattern in allowed
        )


def authorizer_of(config: BrokerConfig) -> StandardAuthorizer | None:
    """Return the authorizer that the settings ask for, or None where everybody may do all."""
    if not config.text("authorizer.class.name"):
        return None
    users = (config.text("super.users") or "").split(";")
    return StandardAuthorizer(
        (user.strip() for user in users if user.strip()),
        allows_if_no_acl=config.boolean("allow.everyone.if.no.acl.found"),
    )


def _is_wildcard(pattern: ResourcePattern) -> bool:
    return pattern.pattern_type is PatternType.LITERAL and pattern.name == WILDCARD


def _speaks_of(acl: Acl, operation: AclOperation) -> bool:
    if acl.operation in (operation, AclOperation.ALL):
        return True
    return acl.permission is PermissionType.ALLOW and acl.operation in _IMPLIED_BY.get(
        operation, _NONE
    )


def _hosts(client_host: str) -> Collection[str]:
    """Return the hosts of ACLs that speak of a client's, by `spelled_alike`."""
    return (WILDCARD, client_host, spelled_alike(client_host.partition("%")[0]))
