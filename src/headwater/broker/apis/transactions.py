"""AddPartitionsToTxn, AddOffsetsToTxn, EndTxn and WriteTxnMarkers: the steps of a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.broker import authorizer
from headwater.broker.authorizer import CLUSTER
from headwater.broker.requests.log_errors import error_code_of
from headwater.broker.topics.topic_names import CONSUMER_OFFSETS
from headwater.broker.transactions.metadata import (
    LEGACY_VERSION,
    NO_EPOCH,
    NO_PRODUCER_ID,
    TRANSACTION_VERSION,
    ProducerIdAndEpoch,
)
from headwater.log.errors import LogError
from headwater.log.records.end_txn_marker import EndTxnMarker
from headwater.protocol import messages
from headwater.protocol.acls import AclOperation
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.broker.broker import Broker
    from headwater.broker.requests.request import Request, Response
    from headwater.broker.transactions.metadata import TopicPartition

_KNOWS_PRODUCER_FENCED = 2
_FIRST_OF_SEVERAL_TRANSACTIONS = 4
_FIRST_END_WITH_BUMP = 5


async def add_partitions_to_txn(broker: Broker, request: Request) -> Response:
    """Make partitions part of a transaction, or only see whether they are."""
    version = request.header.api_version
    wanted = messages.decode_request(
        ApiKey.ADD_PARTITIONS_TO_TXN, version, request.view, request.header.body
    )
    if version < _FIRST_OF_SEVERAL_TRANSACTIONS:
        producer = ProducerIdAndEpoch(
            wanted.v3_and_below_producer_id, wanted.v3_and_below_producer_epoch
        )
        places = _places(wanted.v3_and_below_topics)
        errors = _denied(request, wanted.v3_and_below_transactional_id, places)
        if errors is None:
            errors = _missing(broker, places)
        if errors is None:
            errors = await _add(
                broker, wanted.v3_and_below_transactional_id, producer, places, version
            )
        tree: dict[str, Any] = {"results_by_topic_v3_and_below": _by_topic(places, errors)}
    elif not request.authorize(AclOperation.CLUSTER_ACTION, CLUSTER):
        # These versions are for brokers among themselves.
        tree = {"error_code": ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "results_by_transaction": []}
    else:
        results = []
        for each in wanted.transactions:
            producer = ProducerIdAndEpoch(each.producer_id, each.producer_epoch)
            places = _places(each.topics)
            errors = _missing(broker, places)
            if errors is None and each.verify_only:
                errors = _verify(broker, each.transactional_id, producer, places)
            elif errors is None:
                errors = await _add(broker, each.transactional_id, producer, places, version)
            results.append(
                {
                    "transactional_id": each.transactional_id,
                    "topic_results": _by_topic(places, errors),
                }
            )
        tree = {"error_code": ErrorCode.NONE, "results_by_transaction": results}
    return messages.encode_response(ApiKey.ADD_PARTITIONS_TO_TXN, version, tree)


async def add_offsets_to_txn(broker: Broker, request: Request) -> Response:
    """Make a group's offsets part of a transaction."""
    version = request.header.api_version
    wanted = messages.decode_request(
        ApiKey.ADD_OFFSETS_TO_TXN, version, request.view, request.header.body
    )
    producer = ProducerIdAndEpoch(wanted.producer_id, wanted.producer_epoch)
    code = ErrorCode.NONE
    try:
        request.require(AclOperation.WRITE, authorizer.transactional_id(wanted.transactional_id))
        request.require(AclOperation.READ, authorizer.group(wanted.group_id))
        await broker.groups.ensure_topic()
        place = (CONSUMER_OFFSETS, broker.groups.partition_of(wanted.group_id))
        await broker.transactions.add_partitions(
            wanted.transactional_id, producer, frozenset({place}), LEGACY_VERSION
        )
    except KafkaError as error:
        code = _known(error, version)
    return messages.encode_response(ApiKey.ADD_OFFSETS_TO_TXN, version, {"error_code": code})


async def end_txn(broker: Broker, request: Request) -> Response:
    """Commit or abort a transaction."""
    version = request.header.api_version
    wanted = messages.decode_request(ApiKey.END_TXN, version, request.view, request.header.body)
    bumps = version >= _FIRST_END_WITH_BUMP
    code = ErrorCode.NONE
    producer = ProducerIdAndEpoch(NO_PRODUCER_ID, NO_EPOCH)
    try:
        request.require(AclOperation.WRITE, authorizer.transactional_id(wanted.transactional_id))
        producer = await broker.transactions.end(
            wanted.transactional_id,
            ProducerIdAndEpoch(wanted.producer_id, wanted.producer_epoch),
            TRANSACTION_VERSION if bumps else LEGACY_VERSION,
            committed=wanted.committed,
        )
    except KafkaError as error:
        code = _known(error, version)
    return messages.encode_response(
        ApiKey.END_TXN,
        version,
        {
            "error_code": code,
            "producer_id": producer.producer_id,
            "producer_epoch": producer.epoch,
        },
    )


async def write_txn_markers(broker: Broker, request: Request) -> Response:
    """End a transaction in some partitions, whatever its coordinator thinks: a tool's last way."""
    version = request.header.api_version
    wanted = messages.decode_request(
        ApiKey.WRITE_TXN_MARKERS, version, request.view, request.header.body
    )
    may_write = request.authorize(
        AclOperation.CLUSTER_ACTION,
        CLUSTER,
        is_covered=request.probe(AclOperation.ALTER, CLUSTER),
    )
    results = []
    for each in wanted.markers:
        places = _places(each.topics, "partition_indexes")
        producer = ProducerIdAndEpoch(each.producer_id, each.producer_epoch)
        marker = EndTxnMarker(each.transaction_result, each.coordinator_epoch)
        if may_write:
            errors = {place: await _write(broker, place, producer, marker) for place in places}
        else:
            errors = dict.fromkeys(places, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        topics = _grouped(places)
        results.append(
            {
                "producer_id": each.producer_id,
                "topics": [
                    {
                        "name": name,
                        "partitions": [
                            {"partition_index": index, "error_code": errors[name, index]}
                            for index in indexes
                        ],
                    }
                    for name, indexes in topics.items()
                ],
            }
        )
    return messages.encode_response(ApiKey.WRITE_TXN_MARKERS, version, {"markers": results})


async def _add(
    broker: Broker,
    transactional_id: str,
    producer: ProducerIdAndEpoch,
    places: list[TopicPartition],
    version: int,
) -> dict[TopicPartition, ErrorCode]:
    is_new = version >= _FIRST_OF_SEVERAL_TRANSACTIONS
    code = ErrorCode.NONE
    try:
        await broker.transactions.add_partitions(
            transactional_id,
            producer,
            frozenset(places),
            TRANSACTION_VERSION if is_new else LEGACY_VERSION,
        )
    except KafkaError as error:
        code = _known(error, version)
    return dict.fromkeys(places, code)


def _verify(
    broker: Broker,
    transactional_id: str,
    producer: ProducerIdAndEpoch,
    places: list[TopicPartition],
) -> dict[TopicPartition, ErrorCode]:
    errors = {}
    for place in places:
        try:
            broker.transactions.verify(transactional_id, producer, place)
            errors[place] = ErrorCode.NONE
        except KafkaError as error:
            errors[place] = error.code
    return errors


async def _write(
    broker: Broker, place: TopicPartition, producer: ProducerIdAndEpoch, marker: EndTxnMarker
) -> ErrorCode:
    partition = broker.topics.partition(*place)
    if isinstance(partition, ErrorCode):
        return partition
    try:
        await broker.transactions.write_marker(partition, producer, marker)
    except LogError as error:
        return error_code_of(error)
    return ErrorCode.NONE


def _denied(
    request: Request, transactional_id: str, places: list[TopicPartition]
) -> dict[TopicPartition, ErrorCode] | None:
    """Say what the client may not do, in which case no partition is added."""
    if not request.authorize(AclOperation.WRITE, authorizer.transactional_id(transactional_id)):
        return dict.fromkeys(places, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    errors = {
        place: ErrorCode.OPERATION_NOT_ATTEMPTED
        if request.authorize(AclOperation.WRITE, authorizer.topic(place[0]))
        else ErrorCode.TOPIC_AUTHORIZATION_FAILED
        for place in places
    }
    is_allowed = ErrorCode.TOPIC_AUTHORIZATION_FAILED not in errors.values()
    return None if is_allowed else errors


def _missing(
    broker: Broker, places: list[TopicPartition]
) -> dict[TopicPartition, ErrorCode] | None:
    """Say what is wrong if a partition does not exist, in which case none is added."""
    errors = {}
    for place in places:
        found = broker.topics.partition(*place)
        errors[place] = found if isinstance(found, ErrorCode) else ErrorCode.OPERATION_NOT_ATTEMPTED
    if all(code is ErrorCode.OPERATION_NOT_ATTEMPTED for code in errors.values()):
        return None
    return errors


def _known(error: KafkaError, version: int) -> ErrorCode:
    if error.code is ErrorCode.PRODUCER_FENCED and version < _KNOWS_PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return error.code


def _places(topics: Any, partitions: str = "partitions") -> list[TopicPartition]:
    return [(topic.name, index) for topic in topics for index in getattr(topic, partitions)]


def _grouped(places: list[TopicPartition]) -> dict[str, list[int]]:
    topics: dict[str, list[int]] = {}
    for name, index in places:
        topics.setdefault(name, []).append(index)
    return topics


def _by_topic(
    places: list[TopicPartition], errors: Mapping[TopicPartition, ErrorCode]
) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "results_by_partition": [
                {
                    "partition_index": index,
                    "partition_error_code": errors[name, index],
                }
                for index in indexes
            ],
        }
        for name, indexes in _grouped(places).items()
    ]
