"""DescribeTransactions, ListTransactions and DescribeProducers: what operators want to see."""

from __future__ import annotations

import re
from time import time_ns
from typing import TYPE_CHECKING, Any

from headwater.broker import authorizer
from headwater.broker.transactions.metadata import TransactionState
from headwater.protocol import messages
from headwater.protocol.acls import AclOperation
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode, KafkaError
from headwater.protocol.messages import field

if TYPE_CHECKING:
    from headwater.broker.broker import Broker
    from headwater.broker.requests.request import Request, Response
    from headwater.broker.transactions.metadata import TransactionMetadata

_ANY_DURATION = -1


def describe_transactions(broker: Broker, request: Request) -> Response:
    """Tell where transactional ids stand."""
    version = request.header.api_version
    wanted = messages.decode_request(
        ApiKey.DESCRIBE_TRANSACTIONS, version, request.view, request.header.body
    )
    states = [_describe(broker, request, name) for name in wanted.transactional_ids]
    return messages.encode_response(
        ApiKey.DESCRIBE_TRANSACTIONS, version, {"transaction_states": states}
    )


def list_transactions(broker: Broker, request: Request) -> Response:
    """List transactional ids, all or those that fit."""
    version = request.header.api_version
    wanted = messages.decode_request(
        ApiKey.LIST_TRANSACTIONS, version, request.view, request.header.body
    )
    known = {state.text for state in TransactionState}
    tree: dict[str, Any] = {
        "unknown_state_filters": [text for text in wanted.state_filters if text not in known]
    }
    try:
        if broker.transactions.is_loading:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        pattern = _compile(field(wanted, "transactional_id_pattern") or ".*")
    except KafkaError as error:
        tree["error_code"] = error.code
        return messages.encode_response(ApiKey.LIST_TRANSACTIONS, version, tree)
    states = frozenset(wanted.state_filters)
    producer_ids = frozenset(wanted.producer_id_filters)
    duration_ms = field(wanted, "duration_filter", _ANY_DURATION)
    now_ms = time_ns() // 1_000_000
    tree["transaction_states"] = [
        {
            "transactional_id": each.transactional_id,
            "producer_id": each.producer_id,
            "transaction_state": each.state.text,
        }
        for each in broker.transactions.transactions
        if (not states or each.state.text in states)
        and (not producer_ids or each.producer_id in producer_ids)
        and (duration_ms < 0 or now_ms - each.start_ms > duration_ms)
        and pattern.fullmatch(each.transactional_id)
        and request.probe(AclOperation.DESCRIBE, authorizer.transactional_id(each.transactional_id))
    ]
    return messages.encode_response(ApiKey.LIST_TRANSACTIONS, version, tree)


def describe_producers(broker: Broker, request: Request) -> Response:
    """Tell which producers partitions remember."""
    version = request.header.api_version
    wanted = messages.decode_request(
        ApiKey.DESCRIBE_PRODUCERS, version, request.view, request.header.body
    )
    tree = {
        "topics": [
            {
                "name": topic.name,
                "partitions": [
                    _producers_of(broker, request, topic.name, index)
                    for index in topic.partition_indexes
                ],
            }
            for topic in wanted.topics
        ]
    }
    return messages.encode_response(ApiKey.DESCRIBE_PRODUCERS, version, tree)


def _compile(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.DOTALL)
    except (re.error, OverflowError, RecursionError) as error:
        raise KafkaError(ErrorCode.INVALID_REGULAR_EXPRESSION, f"{pattern}: {error}") from None


def _describe(broker: Broker, request: Request, transactional_id: str) -> dict[str, Any]:
    try:
        request.require(AclOperation.DESCRIBE, authorizer.transactional_id(transactional_id))
        metadata = broker.transactions.find(transactional_id)
    except KafkaError as error:
        return {"transactional_id": transactional_id, "error_code": error.code}
    return {
        "transactional_id": transactional_id,
        "error_code": ErrorCode.NONE,
        "transaction_state": metadata.state.text,
        "transaction_timeout_ms": metadata.timeout_ms,
        "transaction_start_time_ms": metadata.start_ms,
        "producer_id": metadata.producer_id,
        "producer_epoch": metadata.producer_epoch,
        "topics": _topics(request, metadata),
    }


def _topics(request: Request, metadata: TransactionMetadata) -> list[dict[str, Any]]:
    topics: dict[str, list[int]] = {}
    for name, index in sorted(metadata.partitions):
        topics.setdefault(name, []).append(index)
    return [
        {"topic": name, "partitions": indexes}
        for name, indexes in topics.items()
        if request.probe(AclOperation.DESCRIBE, authorizer.topic(name))
    ]


def _producers_of(broker: Broker, request: Request, topic: str, index: int) -> dict[str, Any]:
    if not request.authorize(AclOperation.READ, authorizer.topic(topic)):
        return {"partition_index": index, "error_code": ErrorCode.TOPIC_AUTHORIZATION_FAILED}
    partition = broker.topics.partition(topic, index)
    if isinstance(partition, ErrorCode):
        return {"partition_index": index, "error_code": partition}
    return {
        "partition_index": index,
        "error_code": ErrorCode.NONE,
        "active_producers": [
            {
                "producer_id": entry.producer_id,
                "producer_epoch": entry.epoch,
                "last_sequence": entry.last_sequence,
                "last_timestamp": entry.last_timestamp,
                "coordinator_epoch": entry.coordinator_epoch,
                "current_txn_start_offset": entry.txn_first_offset,
            }
            for entry in partition.log.producers.entries
        ],
    }
