"""ACLs: found, created and deleted, where the cluster has an authorizer."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

import msgspec
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

from headwater.http.answers import Answer
from headwater.http.errors import bad_request
from headwater.rest.errors import invalid_payload
from headwater.rest.v3.links import CREATED, Links, links_of

if TYPE_CHECKING:
    from headwater.http.request import Request
    from headwater.rest.cluster import Cluster
    from headwater.rest.service import RestService

Kind = TypeVar("Kind", bound=Enum)

# What Kafka calls the resource type of a cluster, librdkafka calls that of a broker.
_CLUSTER = "CLUSTER"
_ANY = ("UNKNOWN", "ANY", "MATCH")


class _Acl(msgspec.Struct, forbid_unknown_fields=True):
    resource_type: str
    resource_name: str
    pattern_type: str
    principal: str
    host: str
    operation: str
    permission: str


class _Acls(msgspec.Struct, forbid_unknown_fields=True):
    data: list[_Acl]


async def search_acls(service: RestService, request: Request) -> Answer:
    """Answer GET .../acls."""
    links = await links_of(service, request)
    wanted = _filter(request)
    found = await service.cluster.ask(lambda it: it.result(it.admin.describe_acls(wanted)))
    return links.list("KafkaAclList", ("acls",), [_acl(links, each) for each in found])


async def create_acl(service: RestService, request: Request) -> Answer:
    """Answer POST .../acls."""
    return await _create(service, request, [request.decode(_Acl)])


async def create_acls(service: RestService, request: Request) -> Answer:
    """Answer POST .../acls:batch."""
    return await _create(service, request, request.decode(_Acls).data)


async def delete_acls(service: RestService, request: Request) -> Answer:
    """Answer DELETE .../acls."""
    links = await links_of(service, request)
    for name in ("resource_type", "pattern_type", "operation", "permission"):
        if not request.text(name):
            raise bad_request(f"Say which ACLs to delete: the query parameter {name} is missing")
    wanted = _filter(request)

    def ask(cluster: Cluster) -> list[AclBinding]:
        (future,) = cluster.admin.delete_acls([wanted]).values()
        return list(cluster.result(future))

    deleted = await service.cluster.ask(ask)
    return links.answer({"data": [_acl(links, each) for each in deleted]})


async def _create(service: RestService, request: Request, given: list[_Acl]) -> Answer:
    await links_of(service, request)
    bindings = [_binding(each) for each in given]
    if not bindings:
        raise invalid_payload("data may not be empty")

    def ask(cluster: Cluster) -> None:
        for future in cluster.admin.create_acls(bindings).values():
            cluster.result(future)

    await service.cluster.ask(ask)
    return Answer(b"", CREATED)


def _filter(request: Request) -> AclBindingFilter:
    return AclBindingFilter(
        _resource_type(request.text("resource_type") or "ANY"),
        request.text("resource_name") or None,
        _member(ResourcePatternType, "pattern_type", request.text("pattern_type") or "ANY"),
        request.text("principal") or None,
        request.text("host") or None,
        _member(AclOperation, "operation", request.text("operation") or "ANY"),
        _member(AclPermissionType, "permission", request.text("permission") or "ANY"),
    )


def _binding(acl: _Acl) -> AclBinding:
    for name in ("resource_type", "pattern_type", "operation", "permission"):
        if getattr(acl, name).upper() in _ANY:
            raise invalid_payload(f"{name}={getattr(acl, name)} is for searching only")
    return AclBinding(
        _resource_type(acl.resource_type),
        acl.resource_name,
        _member(ResourcePatternType, "pattern_type", acl.pattern_type),
        acl.principal,
        acl.host,
        _member(AclOperation, "operation", acl.operation),
        _member(AclPermissionType, "permission", acl.permission),
    )


def _resource_type(text: str) -> ResourceType:
    name = "BROKER" if text.upper() == _CLUSTER else text
    return _member(ResourceType, "resource_type", name)


def _member(kind: type[Kind], name: str, text: str) -> Kind:
    try:
        return kind[text.upper()]
    except KeyError:
        known = ", ".join(each.name for each in kind)
        raise bad_request(f"{name} is one of {known}, not '{text}'") from None


def _acl(links: Links, acl: AclBinding) -> dict[str, Any]:
    type_ = _CLUSTER if acl.restype is ResourceType.BROKER else acl.restype.name
    fields = {
        "resource_type": type_,
        "resource_name": acl.name,
        "pattern_type": acl.resource_pattern_type.name,
        "principal": acl.principal,
        "host": acl.host,
        "operation": acl.operation.name,
        "permission": acl.permission_type.name,
    }
    return {
        "kind": "KafkaAcl",
        "metadata": {"self": f"{links.url('acls')}?{urlencode(fields)}"},
        "cluster_id": links.cluster_id,
        **fields,
    }
