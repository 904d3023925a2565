"""The ACLs of a cluster; confluent-kafka takes a refusal to tell them for an empty answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from headwater.clients.errors import ClientError
from headwater.clients.raw.admin import error_name
from headwater.protocol.acls import AclOperation, PatternType, PermissionType, ResourceType
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from enum import IntEnum

    from confluent_kafka.admin import AclBinding, AclBindingFilter

    from headwater.clients.raw.admin import RawAdmin

_Number = TypeVar("_Number", bound="IntEnum")
_VERSION = 2


class NoAuthorizerError(ClientError):
    """The cluster has none, so that everybody may do everything."""


class Acl(NamedTuple):
    """Who may, or may not, do what; with Kafka's names."""

    resource_type: str
    name: str
    pattern_type: str
    principal: str
    host: str
    operation: str
    permission: str

    def binding(self) -> AclBinding:
        """Return it as confluent-kafka has it; raises ValueError for what there is not."""
        from confluent_kafka.admin import AclBinding

        return AclBinding(*self._fields_of_theirs())

    def filter(self) -> AclBindingFilter:
        """Return what picks exactly this one."""
        from confluent_kafka.admin import AclBindingFilter

        return AclBindingFilter(*self._fields_of_theirs())

    def _fields_of_theirs(self) -> tuple[object, ...]:
        from confluent_kafka import admin

        try:
            # By number: it calls the cluster BROKER.
            return (
                admin.ResourceType(int(ResourceType[self.resource_type])),
                self.name,
                admin.ResourcePatternType(int(PatternType[self.pattern_type])),
                self.principal,
                self.host,
                admin.AclOperation(int(AclOperation[self.operation])),
                admin.AclPermissionType(int(PermissionType[self.permission])),
            )
        except (KeyError, ValueError) as unknown:
            raise ValueError(f"an ACL cannot have {unknown}") from None


def list_acls(admin: RawAdmin) -> list[Acl]:
    """Return all ACLs; raises NoAuthorizerError, ClientError."""
    everything = {
        "resource_type_filter": ResourceType.ANY,
        "resource_name_filter": None,
        "pattern_type_filter": PatternType.ANY,
        "principal_filter": None,
        "host_filter": None,
        "operation": AclOperation.ANY,
        "permission_type": PermissionType.ANY,
    }
    answer = admin.ask_any(ApiKey.DESCRIBE_ACLS, _VERSION, everything)
    if answer.error_code == ErrorCode.SECURITY_DISABLED:
        raise NoAuthorizerError("the cluster has no authorizer")
    if answer.error_code:
        raise ClientError(answer.error_message or error_name(answer.error_code))
    return sorted(
        Acl(
            _name(ResourceType, resource.resource_type),
            resource.resource_name,
            _name(PatternType, resource.pattern_type),
            acl.principal,
            acl.host,
            _name(AclOperation, acl.operation),
            _name(PermissionType, acl.permission_type),
        )
        for resource in answer.resources
        for acl in resource.acls
    )


def _name(kind: type[_Number], number: int) -> str:
    try:
        return kind(number).name
    except ValueError:  # of a later version
        return str(number)
