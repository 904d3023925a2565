"""Who may do what, and why: decided from a cluster's ACLs as Kafka's StandardAuthorizer does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.clients.raw.acls import Acl

OPERATIONS_OF = {
    "TOPIC": (
        *("READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE"),
        *("DESCRIBE_CONFIGS", "ALTER_CONFIGS"),
    ),
    "GROUP": ("READ", "DELETE", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"),
    "TRANSACTIONAL_ID": ("WRITE", "DESCRIBE"),
    "CLUSTER": (
        *("CREATE", "ALTER", "DESCRIBE", "CLUSTER_ACTION", "DESCRIBE_CONFIGS"),
        *("ALTER_CONFIGS", "IDEMPOTENT_WRITE"),
    ),
}
"""What Kafka asks for, by the type of the resource."""
EVERYBODY, EVERYTHING, ANYWHERE = "User:*", "*", "*"
_IMPLIED_BY = {
    "DESCRIBE": ("READ", "WRITE", "DELETE", "ALTER"),
    "DESCRIBE_CONFIGS": ("ALTER_CONFIGS",),
}


class Asked(NamedTuple):
    """Whom and what it is about; a principal that is empty is one whom no ACL names."""

    principal: str
    resource_type: str
    name: str
    host: str = ""
    """An IP address; empty for one that no ACL names."""


class Verdict(NamedTuple):
    """Whether somebody may do something, and the ACLs that say so."""

    operation: str
    is_allowed: bool
    why: str
    acls: tuple[Acl, ...] = ()


@dataclass(frozen=True)
class Permissions:
    """What decides in a cluster; None is what its brokers do not tell."""

    acls: Sequence[Acl]
    super_users: frozenset[str] | None
    allows_if_no_acl: bool | None

    def principals(self) -> list[str]:
        """Return who is named, without everybody."""
        named = {acl.principal for acl in self.acls} | (self.super_users or frozenset())
        return sorted(named - {EVERYBODY})

    def verdicts(self, asked: Asked) -> list[Verdict]:
        """Return what somebody may do to a resource, for each operation that there is on it."""
        about = [acl for acl in self.acls if is_about(acl, asked.resource_type, asked.name)]
        return [
            self._verdict(asked, operation, about)
            for operation in OPERATIONS_OF[asked.resource_type]
        ]

    def _verdict(self, asked: Asked, operation: str, about: Sequence[Acl]) -> Verdict:
        if self.super_users and asked.principal in self.super_users:
            return Verdict(operation, is_allowed=True, why="a super user may do everything")
        if not about:
            return self._without_acls(operation)
        ours = [
            acl
            for acl in about
            if acl.principal in (asked.principal, EVERYBODY)
            and acl.host in (asked.host, ANYWHERE)
            and _speaks_of(acl, operation)
        ]
        denied = tuple(acl for acl in ours if acl.permission == "DENY")
        if denied:
            return Verdict(operation, False, "a denial wins over all else", denied)
        if ours:
            return Verdict(operation, True, _because(operation, ours), tuple(ours))
        return Verdict(operation, False, "it has ACLs, and none of them allows this")

    def _without_acls(self, operation: str) -> Verdict:
        if self.allows_if_no_acl:
            return Verdict(operation, True, "it has no ACLs: allow.everyone.if.no.acl.found")
        why = "it has no ACLs"
        if self.allows_if_no_acl is None:
            why += "; with allow.everyone.if.no.acl.found, of which brokers do not tell, all may"
        return Verdict(operation, False, why)


def is_about(acl: Acl, resource_type: str, name: str) -> bool:
    """Whether an ACL is about a resource: by its name, what it starts with, or `*`."""
    if acl.resource_type != resource_type:
        return False
    if acl.pattern_type == "PREFIXED":
        return name.startswith(acl.name)
    return acl.name in (name, EVERYTHING)


def _speaks_of(acl: Acl, operation: str) -> bool:
    if acl.operation in (operation, "ALL"):
        return True
    # Who may read may also describe; who may not read may describe all the same.
    return acl.permission == "ALLOW" and acl.operation in _IMPLIED_BY.get(operation, ())


def _because(operation: str, acls: Sequence[Acl]) -> str:
    if any(acl.operation in (operation, "ALL") for acl in acls):
        return "allowed"
    others = sorted({acl.operation.lower() for acl in acls})
    return f"who may {' or '.join(others)} may do this as well"
