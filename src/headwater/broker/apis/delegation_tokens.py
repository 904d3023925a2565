"""CreateDelegationToken, RenewDelegationToken, ExpireDelegationToken, DescribeDelegationToken."""

from __future__ import annotations

from time import time_ns
from typing import TYPE_CHECKING, Any

from headwater.broker.authorizer import Resource
from headwater.broker.metadata.metadata_store import TokenRecord
from headwater.broker.requests.log_errors import error_code_of
from headwater.broker.session import ANONYMOUS, USER, Principal
from headwater.log.errors import LogError
from headwater.protocol import messages
from headwater.protocol.acls import AclOperation, ResourceType
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from headwater.broker.broker import Broker
    from headwater.broker.delegation_tokens.delegation_token import DelegationToken
    from headwater.broker.requests.request import Request, Response

_NO_TIME = -1


def create_delegation_token(broker: Broker, request: Request) -> Awaitable[Response]:
    """Make a token for the client, or for somebody else whom it may make tokens for."""
    api_key, version = ApiKey.CREATE_DELEGATION_TOKEN, request.header.api_version
    wanted = messages.decode_request(api_key, version, request.view, request.header.body)
    requester = request.session.principal
    owner = requester
    if name := messages.field(wanted, "owner_principal_name"):
        owner = Principal(messages.field(wanted, "owner_principal_type") or "", name)
    renewers = tuple(Principal(r.principal_type, r.principal_name) for r in wanted.renewers)
    lifetime_ms = messages.field(wanted, "max_lifetime_ms")

    async def create() -> DelegationToken:
        tokens = broker.delegation_tokens
        tokens.require_enabled()
        token = tokens.new(owner, requester, renewers, lifetime_ms, _now_ms())
        await broker.topics.store_credentials([TokenRecord(token)])
        return token

    async def respond() -> Response:
        tree: dict[str, Any] = {
            "error_code": ErrorCode.NONE,
            "principal_type": owner.type,
            "principal_name": owner.name,
            "token_requester_principal_type": requester.type,
            "token_requester_principal_name": requester.name,
            "issue_timestamp": _NO_TIME,
            "expiry_timestamp": _NO_TIME,
            "max_timestamp": _NO_TIME,
        }
        try:
            _require_proof(request)
            if owner != requester:
                request.require(AclOperation.CREATE_TOKENS, _user(owner))
            if any(renewer.type != USER for renewer in renewers):
                raise KafkaError(ErrorCode.INVALID_PRINCIPAL_TYPE, "Renewers must be users")
            token = await broker.topics.changes.run(create)
        except (KafkaError, LogError) as error:
            tree["error_code"] = _code(error)
        else:
            tree.update(_described(broker, token))
        return messages.encode_response(api_key, version, tree)

    return respond()


def renew_delegation_token(broker: Broker, request: Request) -> Awaitable[Response]:
    """Let a token expire later, but not after the end of its life."""

    async def renew(wanted: Any) -> int:
        token = broker.delegation_tokens.renewed(
            bytes(wanted.hmac), request.session.principal,
            messages.field(wanted, "renew_period_ms"), _now_ms(),
        )  # fmt: skip
        await broker.topics.store_credentials([TokenRecord(token)])
        return token.expires_ms

    return _change(broker, request, ApiKey.RENEW_DELEGATION_TOKEN, renew)


def expire_delegation_token(broker: Broker, request: Request) -> Awaitable[Response]:
    """Let a token expire earlier, or at once."""

    async def expire(wanted: Any) -> int:
        period_ms: int = messages.field(wanted, "expiry_time_period_ms")
        now_ms = _now_ms()
        token = broker.delegation_tokens.expiring(
            bytes(wanted.hmac), request.session.principal, period_ms, now_ms
        )
        ends_now = period_ms < 0
        await broker.topics.store_credentials([TokenRecord(token, exists=not ends_now)])
        return now_ms if ends_now else token.expires_ms

    return _change(broker, request, ApiKey.EXPIRE_DELEGATION_TOKEN, expire)


def describe_delegation_token(broker: Broker, request: Request) -> Response:
    """List tokens: the client's own, and those that it may describe."""
    api_key, version = ApiKey.DESCRIBE_DELEGATION_TOKEN, request.header.api_version
    wanted = messages.decode_request(api_key, version, request.view, request.header.body)
    owners = wanted.owners and {
        Principal(o.principal_type, o.principal_name) for o in wanted.owners
    }
    tree: dict[str, Any] = {"error_code": ErrorCode.NONE, "tokens": []}
    try:
        _require_proof(request)
        broker.delegation_tokens.require_enabled()
    except KafkaError as error:
        tree["error_code"] = error.code
    else:
        tree["tokens"] = [
            {**_described(broker, token), "renewers": list(map(_named, token.renewers))}
            for token in broker.delegation_tokens.all()
            if (owners is None or any(map(token.concerns, owners))) and _may_see(request, token)
        ]
    return messages.encode_response(api_key, version, tree)


def _change(
    broker: Broker, request: Request, api_key: ApiKey, change: Callable[[Any], Awaitable[int]]
) -> Awaitable[Response]:
    """Answer a request that gives a token another end."""
    version = request.header.api_version
    wanted = messages.decode_request(api_key, version, request.view, request.header.body)

    async def alone() -> int:
        return await change(wanted)

    async def respond() -> Response:
        tree = {"error_code": ErrorCode.NONE, "expiry_timestamp": _NO_TIME}
        try:
            _require_proof(request)
            # What is refused from here on, Kafka answers with the beginning of time.
            tree["expiry_timestamp"] = 0
            tree["expiry_timestamp"] = await broker.topics.changes.run(alone)
        except (KafkaError, LogError) as error:
            tree["error_code"] = _code(error)
        return messages.encode_response(api_key, version, tree)

    return respond()


def _require_proof(request: Request) -> None:
    """Raise KafkaError for a client that has not proved who it is, or only with another token."""
    session = request.session
    if (
        session.authentication.token_owner is not None
        or session.security_protocol == "PLAINTEXT"
        or (session.security_protocol == "SSL" and session.principal == ANONYMOUS)
    ):
        raise KafkaError(
            ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
            "Tokens are for clients that have proved who they are, and not by a token",
        )


def _may_see(request: Request, token: DelegationToken) -> bool:
    return (
        token.concerns(request.session.principal)
        or request.probe(AclOperation.DESCRIBE, Resource(ResourceType.DELEGATION_TOKEN, token.id))
        or request.probe(AclOperation.DESCRIBE_TOKENS, _user(token.owner))
    )


def _user(principal: Principal) -> Resource:
    return Resource(ResourceType.USER, str(principal))


def _described(broker: Broker, token: DelegationToken) -> dict[str, Any]:
    return {
        "principal_type": token.owner.type,
        "principal_name": token.owner.name,
        "token_requester_principal_type": token.requester.type,
        "token_requester_principal_name": token.requester.name,
        "issue_timestamp": token.issued_ms,
        "expiry_timestamp": token.expires_ms,
        "max_timestamp": token.max_ms,
        "token_id": token.id,
        "hmac": broker.delegation_tokens.hmac_of(token.id),
    }


def _named(principal: Principal) -> dict[str, str]:
    return {"principal_type": principal.type, "principal_name": principal.name}


def _code(error: KafkaError | LogError) -> ErrorCode:
    return error.code if isinstance(error, KafkaError) else error_code_of(error)


def _now_ms() -> int:
    return time_ns() // 1_000_000
