"""FindCoordinator: who looks after a group or a transactional id. On one node, always us."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.broker.authorizer import group, transactional_id
from headwater.protocol import messages
from headwater.protocol.acls import AclOperation
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode, KafkaError
from headwater.protocol.messages import field

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from headwater.broker.broker import Broker
    from headwater.broker.requests.request import Request, Response

GROUP = 0
TRANSACTION = 1

_FIRST_VERSION_WITH_SEVERAL = 4
_NOBODY: dict[str, Any] = {"node_id": -1, "host": "", "port": -1}


def find_coordinator(broker: Broker, request: Request) -> Awaitable[Response]:
    """Say who coordinates, once the internal topic that takes is there."""
    version = request.header.api_version
    entity = messages.decode_request(
        ApiKey.FIND_COORDINATOR, version, request.view, request.header.body
    )
    return _respond(broker, request, version, entity)


async def _respond(broker: Broker, request: Request, version: int, entity: Any) -> Response:
    key_type = field(entity, "key_type", GROUP)
    has_several = version >= _FIRST_VERSION_WITH_SEVERAL
    keys = entity.coordinator_keys if has_several else (entity.key,)
    found = [await _find(broker, request, key_type, key) for key in keys]
    tree: dict[str, Any] = {"coordinators": found}
    if not has_several:
        tree = {name: value for name, value in found[0].items() if name != "key"}
        if tree["error_code"] is ErrorCode.NONE:
            # Kafka's old versions spell out the code even where there is no error.
            tree["error_message"] = ErrorCode.NONE.name
    return messages.encode_response(ApiKey.FIND_COORDINATOR, version, tree)


async def _find(broker: Broker, request: Request, key_type: int, key: str) -> dict[str, Any]:
    try:
        if key_type == GROUP:
            request.require(AclOperation.DESCRIBE, group(key))
            await broker.groups.ensure_topic()
        elif key_type == TRANSACTION:
            request.require(AclOperation.DESCRIBE, transactional_id(key))
            await broker.transactions.ensure_topic()
        else:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, f"there is no coordinator for the key type {key_type}"
            )
    except KafkaError as refusal:
        return {
            "key": key,
            "error_code": refusal.code,
            "error_message": str(refusal),
            **_NOBODY,
        }
    host, port = broker.advertised(request.session.listener)
    return {
        "key": key,
        "error_code": ErrorCode.NONE,
        "error_message": "",
        "node_id": broker.node_id,
        "host": host,
        "port": port,
    }
