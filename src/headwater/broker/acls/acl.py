"""One ACL, the filters that pick ACLs, and what a new one must be like."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.authorizer import CLUSTER
from headwater.protocol.acls import AclOperation, PatternType, PermissionType, ResourceType
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Mapping

WILDCARD = "*"
"""As a literal name it stands for all resources, as a host for all hosts."""
ANYBODY = "User:*"


class ResourcePattern(NamedTuple):
    """The resources that an ACL is about."""

    resource_type: ResourceType
    pattern_type: PatternType
    name: str


class Acl(NamedTuple):
    """Somebody at a host may, or may not, do something to some resources."""

    pattern: ResourcePattern
    principal: str
    host: str
    operation: AclOperation
    permission: PermissionType


class AclFilter(NamedTuple):
    """Picks ACLs; None, and ANY, fit everything."""

    resource_type: ResourceType = ResourceType.ANY
    pattern_type: PatternType = PatternType.ANY
    name: str | None = None
    principal: str | None = None
    host: str | None = None
    operation: AclOperation = AclOperation.ANY
    permission: PermissionType = PermissionType.ANY

    def matches(self, acl: Acl) -> bool:
        """Whether an ACL is meant."""
        return (
            self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self.operation in (AclOperation.ANY, acl.operation)
            and self.permission in (PermissionType.ANY, acl.permission)
            and self._matches_pattern(acl.pattern)
        )

    def check(self) -> None:
        """Raise KafkaError for a filter that asks for what this version does not know."""
        if ResourceType.UNKNOWN is self.resource_type or PatternType.UNKNOWN is self.pattern_type:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Unknown patternFilter.")
        if AclOperation.UNKNOWN is self.operation or PermissionType.UNKNOWN is self.permission:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Unknown entryFilter.")

    def _matches_pattern(self, pattern: ResourcePattern) -> bool:
        if self.resource_type not in (ResourceType.ANY, pattern.resource_type):
            return False
        if self.pattern_type is PatternType.MATCH:
            return self.name is None or _covers(pattern, self.name)
        return self.pattern_type in (PatternType.ANY, pattern.pattern_type) and self.name in (
            None,
            pattern.name,
        )


def check_new(acl: Acl) -> None:
    """Raise KafkaError for an ACL that nobody could mean."""
    pattern = acl.pattern
    problem = None
    if pattern.resource_type is ResourceType.CLUSTER and pattern.name != CLUSTER.name:
        problem = f"The only valid name for the CLUSTER resource is {CLUSTER.name}"
    elif not pattern.name:
        problem = "Invalid empty resource name"
    elif pattern.resource_type in (ResourceType.UNKNOWN, ResourceType.ANY):
        problem = f"Invalid resourceType {pattern.resource_type.name}"
    elif pattern.pattern_type not in (PatternType.LITERAL, PatternType.PREFIXED):
        problem = f"Invalid patternType {pattern.pattern_type.name}"
    elif acl.operation in (AclOperation.UNKNOWN, AclOperation.ANY):
        problem = f"Invalid operation {acl.operation.name}"
    elif acl.permission not in (PermissionType.ALLOW, PermissionType.DENY):
        problem = f"Invalid permissionType {acl.permission.name}"
    elif ":" not in acl.principal:
        problem = f"The principal `{acl.principal}` has no type; write it as User:{acl.principal}"
    if problem is not None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, problem)


def acl_to_json(acl: Acl) -> dict[str, str]:
    """Write an ACL in the words of Kafka's tools, as the journal keeps it."""
    return {
        "resourceType": acl.pattern.resource_type.name,
        "patternType": acl.pattern.pattern_type.name,
        "name": acl.pattern.name,
        "principal": acl.principal,
        "host": acl.host,
        "operation": acl.operation.name,
        "permission": acl.permission.name,
    }


def acl_from_json(fields: Mapping[str, str]) -> Acl:
    """Read what `acl_to_json` wrote."""
    return Acl(
        ResourcePattern(
            ResourceType[fields["resourceType"]],
            PatternType[fields["patternType"]],
            fields["name"],
        ),
        fields["principal"],
        fields["host"],
        AclOperation[fields["operation"]],
        PermissionType[fields["permission"]],
    )


def _covers(pattern: ResourcePattern, name: str) -> bool:
    if pattern.pattern_type is PatternType.PREFIXED:
        return name.startswith(pattern.name)
    return pattern.name in (name, WILDCARD)
