"""DescribeClientQuotas and AlterClientQuotas."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from headwater.broker.authorizer import CLUSTER
from headwater.broker.quotas.alteration import Operation, quotas_after
from headwater.broker.quotas.entity import describe, entity_of
from headwater.broker.quotas.filter import Component, QuotaFilter
from headwater.broker.requests.log_errors import error_code_of
from headwater.log.errors import LogError
from headwater.protocol import messages
from headwater.protocol.acls import AclOperation
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from headwater.broker.broker import Broker
    from headwater.broker.quotas.entity import Entity
    from headwater.broker.requests.request import Request, Response

    Alteration = tuple[Entity, Sequence[Operation]]


def describe_client_quotas(broker: Broker, request: Request) -> Response:
    """Return the quotas that a filter picks."""
    version = request.header.api_version
    wanted = messages.decode_request(
        ApiKey.DESCRIBE_CLIENT_QUOTAS, version, request.view, request.header.body
    )
    tree: dict[str, Any] = {"error_code": ErrorCode.NONE, "error_message": None}
    try:
        request.require(AclOperation.DESCRIBE_CONFIGS, CLUSTER)
        picks = QuotaFilter(
            [Component(c.entity_type, c.match_type, c.match) for c in wanted.components],
            strict=wanted.strict,
        )
    except KafkaError as error:
        tree.update(error_code=error.code, error_message=error.message, entries=None)
    else:
        tree["entries"] = [
            {
                "entity": _entity_tree(entity),
                "values": [{"key": key, "value": value} for key, value in quotas.items()],
            }
            for entity, quotas in broker.quotas.entries.items()
            if picks.matches(entity)
        ]
    return messages.encode_response(ApiKey.DESCRIBE_CLIENT_QUOTAS, version, tree)


def alter_client_quotas(broker: Broker, request: Request) -> Awaitable[Response]:
    """Set and remove quotas, or only check whether they could be."""
    version = request.header.api_version
    wanted = messages.decode_request(
        ApiKey.ALTER_CLIENT_QUOTAS, version, request.view, request.header.body
    )
    alterations = [
        (
            entity_of({part.entity_type: part.entity_name for part in entry.entity}),
            [Operation(op.key, None if op.remove else op.value) for op in entry.ops],
        )
        for entry in wanted.entries
    ]

    async def respond() -> Response:
        errors: dict[Entity, KafkaError | None]
        try:
            request.require(AclOperation.ALTER_CONFIGS, CLUSTER)
        except KafkaError as refusal:
            errors = {entity: refusal for entity, _ in alterations}
        else:
            errors = await broker.topics.changes.run(
                lambda: _alter(broker, alterations, validate_only=wanted.validate_only)
            )
        entries = [
            {
                "entity": _entity_tree(entity),
                "error_code": error.code if error else ErrorCode.NONE,
                "error_message": error.message if error else None,
            }
            for entity, error in errors.items()
        ]
        return messages.encode_response(ApiKey.ALTER_CLIENT_QUOTAS, version, {"entries": entries})

    return respond()


async def _alter(
    broker: Broker, alterations: Sequence[Alteration], *, validate_only: bool
) -> dict[Entity, KafkaError | None]:
    """Change what can be changed and return what became of each entity."""
    present = broker.quotas.entries
    counts = Counter(entity for entity, _ in alterations)
    errors: dict[Entity, KafkaError | None] = dict.fromkeys(counts)
    changes: dict[Entity, dict[str, float]] = {}
    for entity, operations in alterations:
        before = present.get(entity, {})
        try:
            if counts[entity] > 1:
                raise KafkaError(
                    ErrorCode.INVALID_REQUEST, f"the request names {describe(entity)} twice"
                )
            after = quotas_after(entity, before, operations)
        except KafkaError as error:
            errors[entity] = error
            continue
        if after != before:
            changes[entity] = after
    if changes and not validate_only:
        try:
            await broker.topics.store_quotas(changes)
        except LogError as error:
            errors.update(dict.fromkeys(changes, KafkaError(error_code_of(error), str(error))))
        else:
            broker.quotas.update(changes)
    return errors


def _entity_tree(entity: Entity) -> list[dict[str, str | None]]:
    return [{"entity_type": kind, "entity_name": name} for kind, name in entity]
