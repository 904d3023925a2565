"""DescribeAcls, CreateAcls and DeleteAcls."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, TypeVar

from headwater.broker.acls.acl import Acl, AclFilter, ResourcePattern, check_new
from headwater.broker.authorizer import CLUSTER
from headwater.broker.requests.log_errors import error_code_of
from headwater.log.errors import LogError
from headwater.protocol import messages
from headwater.protocol.acls import AclOperation, PatternType, PermissionType, ResourceType
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from headwater.broker.acls.standard_authorizer import StandardAuthorizer
    from headwater.broker.broker import Broker
    from headwater.broker.requests.request import Request, Response

_Number = TypeVar("_Number", bound=IntEnum)


def describe_acls(broker: Broker, request: Request) -> Response:
    """List the ACLs that a filter picks."""
    version = request.header.api_version
    wanted = messages.decode_request(
        ApiKey.DESCRIBE_ACLS, version, request.view, request.header.body
    )
    tree: dict[str, Any] = {"error_code": ErrorCode.NONE, "error_message": None, "resources": []}
    try:
        request.require(AclOperation.DESCRIBE, CLUSTER)
        picks = _filter(wanted)
        picks.check()
        by_pattern: dict[ResourcePattern, list[Acl]] = {}
        for acl in filter(picks.matches, _authorizer(broker).acls):
            by_pattern.setdefault(acl.pattern, []).append(acl)
    except KafkaError as error:
        tree.update(error_code=error.code, error_message=error.message)
    else:
        tree["resources"] = [
            {
                "resource_type": pattern.resource_type,
                "resource_name": pattern.name,
                "pattern_type": pattern.pattern_type,
                "acls": [_entry(acl) for acl in acls],
            }
            for pattern, acls in by_pattern.items()
        ]
    return messages.encode_response(ApiKey.DESCRIBE_ACLS, version, tree)


def create_acls(broker: Broker, request: Request) -> Awaitable[Response]:
    """Create ACLs; those that are there already stay as they are."""
    version = request.header.api_version
    wanted = messages.decode_request(ApiKey.CREATE_ACLS, version, request.view, request.header.body)
    acls = [_acl(creation) for creation in wanted.creations]

    async def respond() -> Response:
        errors: Sequence[KafkaError | None]
        try:
            request.require(AclOperation.ALTER, CLUSTER)
            authorizer = _authorizer(broker)
        except KafkaError as refusal:
            errors = [refusal] * len(acls)
        else:
            errors = await broker.topics.changes.run(lambda: _create(broker, authorizer, acls))
        results = [_outcome(error) for error in errors]
        return messages.encode_response(ApiKey.CREATE_ACLS, version, {"results": results})

    return respond()


def delete_acls(broker: Broker, request: Request) -> Awaitable[Response]:
    """Delete the ACLs that any of some filters picks, and tell which those were."""
    version = request.header.api_version
    wanted = messages.decode_request(ApiKey.DELETE_ACLS, version, request.view, request.header.body)
    filters = [_filter(each) for each in wanted.filters]

    async def respond() -> Response:
        results: Sequence[list[Acl] | KafkaError]
        try:
            request.require(AclOperation.ALTER, CLUSTER)
            authorizer = _authorizer(broker)
        except KafkaError as refusal:
            results = [refusal] * len(filters)
        else:
            results = await broker.topics.changes.run(lambda: _delete(broker, authorizer, filters))
        tree = {"filter_results": [_deleted(result) for result in results]}
        return messages.encode_response(ApiKey.DELETE_ACLS, version, tree)

    return respond()


def _authorizer(broker: Broker) -> StandardAuthorizer:
    if broker.acls is None:
        raise KafkaError(
            ErrorCode.SECURITY_DISABLED,
            "No Authorizer is configured; set authorizer.class.name to have ACLs",
        )
    return broker.acls


async def _create(
    broker: Broker, authorizer: StandardAuthorizer, acls: Sequence[Acl]
) -> list[KafkaError | None]:
    errors: list[KafkaError | None] = []
    new: dict[Acl, None] = {}
    for acl in acls:
        try:
            check_new(acl)
        except KafkaError as error:
            errors.append(error)
            continue
        errors.append(None)
        if acl not in authorizer.acls:
            new[acl] = None
    if new:
        try:
            await broker.topics.store_acls(new)
        except LogError as error:
            failure = KafkaError(error_code_of(error), str(error))
            return [failure if acl in new else e for acl, e in zip(acls, errors, strict=True)]
        authorizer.change(new)
    return errors


async def _delete(
    broker: Broker, authorizer: StandardAuthorizer, filters: Sequence[AclFilter]
) -> list[list[Acl] | KafkaError]:
    results: list[list[Acl] | KafkaError] = []
    gone: dict[Acl, None] = {}
    for each in filters:
        try:
            each.check()
        except KafkaError as error:
            results.append(error)
            continue
        picked = list(filter(each.matches, authorizer.acls))
        gone.update(dict.fromkeys(picked))
        results.append(picked)
    if gone:
        try:
            await broker.topics.store_acls((), gone)
        except LogError as error:
            failure = KafkaError(error_code_of(error), str(error))
            return [result if isinstance(result, KafkaError) else failure for result in results]
        authorizer.change((), gone)
    return results


def _acl(creation: Any) -> Acl:
    return Acl(
        ResourcePattern(
            _known(ResourceType, creation.resource_type),
            _known(PatternType, creation.resource_pattern_type),
            creation.resource_name,
        ),
        creation.principal,
        creation.host,
        _known(AclOperation, creation.operation),
        _known(PermissionType, creation.permission_type),
    )


def _filter(wanted: Any) -> AclFilter:
    return AclFilter(
        _known(ResourceType, wanted.resource_type_filter),
        _known(PatternType, wanted.pattern_type_filter),
        wanted.resource_name_filter,
        wanted.principal_filter,
        wanted.host_filter,
        _known(AclOperation, wanted.operation),
        _known(PermissionType, wanted.permission_type),
    )


def _known(numbers: type[_Number], number: int) -> _Number:
    try:
        return numbers(number)
    except ValueError:  # a later version's; every enumeration has 0 for those
        return numbers(0)


def _entry(acl: Acl) -> dict[str, Any]:
    return {
        "principal": acl.principal,
        "host": acl.host,
        "operation": acl.operation,
        "permission_type": acl.permission,
    }


def _deleted(result: list[Acl] | KafkaError) -> dict[str, Any]:
    if isinstance(result, KafkaError):
        return {**_outcome(result), "matching_acls": []}
    return {
        **_outcome(None),
        "matching_acls": [
            {
                **_outcome(None),
                "resource_type": acl.pattern.resource_type,
                "resource_name": acl.pattern.name,
                "pattern_type": acl.pattern.pattern_type,
                **_entry(acl),
            }
            for acl in result
        ],
    }


def _outcome(error: KafkaError | None) -> dict[str, Any]:
    return {
        "error_code": error.code if error else ErrorCode.NONE,
        "error_message": error.message if error else None,
    }
