"""Who may do what: the one question that every API asks, and who answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from headwater.protocol.acls import AclOperation, ResourceType
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from headwater.broker.session import Principal, Session


class Resource(NamedTuple):
    """Something that rights are about; written `TOPIC orders`."""

    type: ResourceType
    name: str

    def __str__(self) -> str:
        return f"{self.type.name} {self.name}"


CLUSTER = Resource(ResourceType.CLUSTER, "kafka-cluster")


def topic(name: str) -> Resource:
    """Return the topic of this name as a resource, whether or not there is one."""
    return Resource(ResourceType.TOPIC, name)


def group(group_id: str) -> Resource:
    """Return the group of this id as a resource."""
    return Resource(ResourceType.GROUP, group_id)


def transactional_id(name: str) -> Resource:
    """Return a transactional id as a resource."""
    return Resource(ResourceType.TRANSACTIONAL_ID, name)


class Authorizer(Protocol):
    """Decides; asked on the event loop, so an answer must not take long."""

    def allows_all(self, principal: Principal) -> bool:
        """Whether somebody may do everything for good, and need not be asked about again."""

    def authorize(self, session: Session, operation: AclOperation, resource: Resource) -> bool:
        """Whether a client may do something."""

    def authorize_by_type(
        self, session: Session, operation: AclOperation, resource_type: ResourceType
    ) -> bool:
        """Whether a client may do something to at least one resource of a type."""

    def denied(self, session: Session, operation: AclOperation, resource: Resource) -> None:
        """Take note that a client was refused something."""


class AllowAll:
    """Everybody may do everything."""

    def allows_all(self, principal: Principal) -> bool:
        """Whoever it is."""
        return True

    def authorize(self, session: Session, operation: AclOperation, resource: Resource) -> bool:
        """Whatever it is."""
        return True

    def authorize_by_type(
        self, session: Session, operation: AclOperation, resource_type: ResourceType
    ) -> bool:
        """Whatever it is."""
        return True

    def denied(self, session: Session, operation: AclOperation, resource: Resource) -> None:
        """Never."""


ALLOW_ALL = AllowAll()

_REFUSALS = {
    ResourceType.TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ResourceType.GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ResourceType.CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ResourceType.TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    ResourceType.DELEGATION_TOKEN: ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
    # Only rights on delegation tokens are given for users.
    ResourceType.USER: ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
}

OPERATIONS_ON = {
    ResourceType.TOPIC: (
        AclOperation.READ, AclOperation.WRITE, AclOperation.CREATE, AclOperation.DELETE,
        AclOperation.ALTER, AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS,
        AclOperation.ALTER_CONFIGS,
    ),
    ResourceType.GROUP: (
        AclOperation.READ, AclOperation.DELETE, AclOperation.DESCRIBE,
        AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS,
    ),
    ResourceType.CLUSTER: (
        AclOperation.CREATE, AclOperation.ALTER, AclOperation.DESCRIBE,
        AclOperation.CLUSTER_ACTION, AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS,
        AclOperation.IDEMPOTENT_WRITE,
    ),
}  # fmt: skip
"""What there is to do to a resource of each type that clients ask their rights for."""


def refusal(session: Session, operation: AclOperation, resource: Resource) -> KafkaError:
    """Return the error of somebody who may not."""
    return KafkaError(
        _REFUSALS[resource.type], f"{session.principal} has no {operation.name} on {resource}"
    )
