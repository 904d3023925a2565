"""Produce: append each partition's batch, answer when it is as safe as `acks` asks."""

from __future__ import annotations

import logging
from functools import partial
from time import time_ns
from typing import TYPE_CHECKING

from headwater.broker.authorizer import topic, transactional_id
from headwater.broker.requests.log_errors import error_code_of
from headwater.broker.requests.pending_answer import PendingAnswer
from headwater.broker.requests.request import HangUp
from headwater.broker.transactions.admission import produce_in_transaction
from headwater.log.errors import (
    CorruptBatch,
    InvalidTxnState,
    LogError,
    NotOneBatch,
    RecordListTooLarge,
    RecordTooLarge,
    StorageError,
    UnsupportedCompression,
)
from headwater.log.log import AppendInfo, AppendOrigin
from headwater.log.rate_limited_logger import RateLimitedLogger
from headwater.log.records.batch import CODEC_MASK, HEADER_SIZE, parse_header
from headwater.protocol import produce as codec
from headwater.protocol.acls import AclOperation
from headwater.protocol.errors import ErrorCode
from headwater.protocol.produce import PartitionProduceResult, ProduceRequest, RecordError

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from headwater.broker.broker import Broker
    from headwater.broker.requests.request import Request, Response
    from headwater.broker.topics.partition import Partition
    from headwater.broker.transactions.admission import Refusals

logger = logging.getLogger("headwater.broker")
_refused = RateLimitedLogger(logger)

_FIRST_WITH_ZSTD = 7
_ZSTD = 4
_CODEC_POSITION = 22

_NONE_REFUSED: Refusals = {}
# To look up a member of an enumeration runs Python, which each batch would pay for.
_CLIENT = AppendOrigin.CLIENT
_NO_ERROR = ErrorCode.NONE
_BEFORE_THE_LOG = (CorruptBatch, NotOneBatch, RecordListTooLarge, RecordTooLarge, StorageError)

Results = list[tuple[str | None, bytes | None, list[PartitionProduceResult]]]


def produce(broker: Broker, request: Request) -> Response | Awaitable[Response | None] | None:
    """Append at once; with acks=all the answer comes after the group commit."""
    version = request.header.api_version
    wanted = codec.decode_request(version, request.view, request.header.body)
    if wanted.acks not in (-1, 0, 1):
        return codec.encode_response(version, _refuse_all(wanted, ErrorCode.INVALID_REQUIRED_ACKS))
    if wanted.transactional_id is not None and not request.authorize(
        AclOperation.WRITE, transactional_id(wanted.transactional_id)
    ):
        code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        return codec.encode_response(version, _refuse_all(wanted, code))
    allowed, denied = (wanted, []) if request.need_not_ask else _by_rights(broker, request, wanted)
    if wanted.transactional_id is not None:
        append = partial(_append_and_answer, broker, version, allowed, denied)
        return produce_in_transaction(broker, version, allowed, append)
    return _append_and_answer(broker, version, allowed, denied, _NONE_REFUSED)


def _by_rights(
    broker: Broker, request: Request, wanted: ProduceRequest
) -> tuple[ProduceRequest, Results]:
    """Return what the client may write, and the answers to what it may not."""
    allowed, denied = [], []
    for data in wanted.topics:
        name = data.name
        if name is None:
            found = broker.topics.by_id.get(data.topic_id or b"")
            name = None if found is None else found.name
        if name is None or request.authorize(AclOperation.WRITE, topic(name)):
            allowed.append(data)
        else:
            denied.append(data)
    code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    return wanted._replace(topics=allowed), _refuse_all(wanted._replace(topics=denied), code)


def _append_and_answer(
    broker: Broker, version: int, wanted: ProduceRequest, denied: Results, refused: Refusals
) -> Response | PendingAnswer | None:
    results, appended = _append_all(broker, version, wanted, refused)
    if denied:
        results += denied
    fsync = broker.fsync
    if not fsync:
        for partition, info in appended.values():
            partition.advance(info.end)
    elif wanted.acks != -1:
        for partition, _ in appended.values():
            broker.commits.request(partition)
    if wanted.acks == 0:
        _hang_up_on_failure(results)
        return None
    if wanted.acks == 1 or not fsync or not appended:
        return codec.encode_response(version, results)
    return _answer_when_durable(broker, version, results, appended)


Appended = dict[tuple[int, int], "tuple[Partition, AppendInfo]"]
"""What was appended, by its place in the results (topic, partition)."""


def _append_all(
    broker: Broker, version: int, wanted: ProduceRequest, refused: Refusals
) -> tuple[Results, Appended]:
    now_ms = time_ns() // 1_000_000
    results: Results = []
    appended: Appended = {}
    for topic_at, data in enumerate(wanted.topics):
        name_or_id = data.name if data.name is not None else data.topic_id or b""
        partition_results: list[PartitionProduceResult] = []
        for index, records in data.partitions:
            partition = broker.topics.partition(name_or_id, index)
            if isinstance(partition, ErrorCode):
                partition_results.append(PartitionProduceResult(index, partition))
                continue
            if refused and partition in refused:
                refusal = refused[partition]
                partition_results.append(
                    PartitionProduceResult(index, refusal.code, error_message=refusal.message)
                )
                continue
            try:
                if records is None or not len(records):
                    raise _no_records(partition)
                if version < _FIRST_WITH_ZSTD and _is_zstd(records):
                    raise UnsupportedCompression(
                        f"zstd needs Produce v{_FIRST_WITH_ZSTD}; the client sent v{version}"
                    )
                info = partition.append(records, now_ms, _CLIENT)
            except LogError as error:
                if isinstance(error, StorageError):
                    _refused.error(StorageError, "can't append: %s", error)
                else:
                    logger.info("refused a batch for %s: %s", partition.log.name, error)
                partition_results.append(_refusal(index, partition, error, wanted, records))
                continue
            appended[topic_at, len(partition_results)] = (partition, info)
            partition_results.append(
                PartitionProduceResult(
                    index,
                    _NO_ERROR,
                    info.base_offset,
                    info.log_append_time,
                    info.log_start_offset,
                )
            )
        results.append((data.name, data.topic_id, partition_results))
    return results, appended


def _refusal(
    index: int,
    partition: Partition,
    error: LogError,
    wanted: ProduceRequest,
    records: memoryview | None,
) -> PartitionProduceResult:
    # As in Kafka, only a log that has looked at the batch tells where it starts.
    unread = isinstance(error, _BEFORE_THE_LOG)
    return PartitionProduceResult(
        index,
        _code(error, wanted, records),
        log_start_offset=-1 if unread else partition.log.log_start_offset,
        record_errors=[RecordError(*bad) for bad in error.bad_records],
        error_message=str(error),
    )


def _code(error: LogError, wanted: ProduceRequest, records: memoryview | None) -> ErrorCode:
    if (
        isinstance(error, InvalidTxnState)
        and wanted.transactional_id is None
        and records is not None
        and parse_header(records).is_transactional
    ):
        # Without an id there is no transaction that the batch could be part of.
        return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    return error_code_of(error)


def _hang_up_on_failure(results: Results) -> None:
    # Nobody reads an answer to acks=0; a closed connection makes the client look again.
    for name, _, partitions in results:
        for partition in partitions:
            if partition.error_code != ErrorCode.NONE:
                raise HangUp(
                    f"its produce with acks=0 to {name}-{partition.index} failed "
                    f"with {ErrorCode(partition.error_code).name}"
                )


def _no_records(partition: Partition) -> LogError:
    return NotOneBatch(f"the request has no records for {partition.log.name}; send one batch")


def _is_zstd(records: memoryview) -> bool:
    return len(records) > HEADER_SIZE and records[_CODEC_POSITION] & CODEC_MASK == _ZSTD


def _answer_when_durable(
    broker: Broker, version: int, results: Results, appended: Appended
) -> PendingAnswer:
    answer = PendingAnswer()
    left = len(appended)

    def on_durable(place: tuple[int, int], error: LogError | None) -> None:
        nonlocal left
        left -= 1
        if error is not None:
            topic_at, partition_at = place
            partition_results = results[topic_at][2]
            partition_results[partition_at] = PartitionProduceResult(
                partition_results[partition_at].index,
                error_code_of(error),
                error_message=str(error),
            )
        if left == 0 and not answer.done():
            answer.give(codec.encode_response(version, results))

    for place, (partition, _) in appended.items():
        broker.commits.request(partition, partial(on_durable, place))
    return answer


def _refuse_all(wanted: ProduceRequest, code: ErrorCode) -> Results:
    return [
        (
            data.name,
            data.topic_id,
            [PartitionProduceResult(index, code) for index, _ in data.partitions],
        )
        for data in wanted.topics
    ]
