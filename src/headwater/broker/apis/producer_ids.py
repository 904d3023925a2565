"""InitProducerId: an identity for producers whose records count once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.broker.authorizer import CLUSTER, transactional_id
from headwater.broker.transactions.metadata import NO_EPOCH, NO_PRODUCER_ID, ProducerIdAndEpoch
from headwater.protocol import messages
from headwater.protocol.acls import AclOperation, ResourceType
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode, KafkaError
from headwater.protocol.messages import field

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from headwater.broker.broker import Broker
    from headwater.broker.requests.request import Request, Response

_KNOWS_PRODUCER_FENCED = 4


def init_producer_id(broker: Broker, request: Request) -> Awaitable[Response]:
    """Give the client a producer id, or the next epoch of its transactional id."""
    version = request.header.api_version
    wanted = messages.decode_request(
        ApiKey.INIT_PRODUCER_ID, version, request.view, request.header.body
    )
    timeout_ms = field(wanted, "transaction_timeout_ms")
    known = ProducerIdAndEpoch(
        field(wanted, "producer_id", NO_PRODUCER_ID), field(wanted, "producer_epoch", NO_EPOCH)
    )

    async def respond() -> Response:
        code = ErrorCode.NONE
        producer = ProducerIdAndEpoch(NO_PRODUCER_ID, NO_EPOCH)
        try:
            _require_right(request, wanted.transactional_id)
            producer = await broker.transactions.init_producer_id(
                wanted.transactional_id, timeout_ms, _expected(known)
            )
        except KafkaError as error:
            code = error.code
            if code is ErrorCode.PRODUCER_FENCED and version < _KNOWS_PRODUCER_FENCED:
                code = ErrorCode.INVALID_PRODUCER_EPOCH
        return messages.encode_response(
            ApiKey.INIT_PRODUCER_ID,
            version,
            {
                "error_code": code,
                "producer_id": producer.producer_id,
                "producer_epoch": producer.epoch,
            },
        )

    return respond()


def _require_right(request: Request, transactional: str | None) -> None:
    if transactional is not None:
        request.require(AclOperation.WRITE, transactional_id(transactional))
    else:
        may_write = request.probe(
            AclOperation.IDEMPOTENT_WRITE, CLUSTER
        ) or request.authorize_by_type(AclOperation.WRITE, ResourceType.TOPIC)
        request.require(AclOperation.IDEMPOTENT_WRITE, CLUSTER, is_covered=may_write)


def _expected(known: ProducerIdAndEpoch) -> ProducerIdAndEpoch | None:
    if known == (NO_PRODUCER_ID, NO_EPOCH):
        return None
    if known.producer_id == NO_PRODUCER_ID or known.epoch == NO_EPOCH:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, "A producer id needs an epoch, and an epoch an id."
        )
    return known
