"""Writes the records of a shard to its partition, several requests' in one batch."""

from __future__ import annotations

import logging
from functools import partial
from time import time_ns
from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.requests.log_errors import error_code_of
from headwater.log.errors import LogError, RecordTooLarge
from headwater.log.log import AppendOrigin
from headwater.log.rate_limited_logger import RateLimitedLogger
from headwater.log.records.record import Record, encode_batch
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from headwater.broker.broker import Broker
    from headwater.broker.groups.environment import OnAppended, OnStored, Producer
    from headwater.broker.groups.record_fields import CoordinatorRecord
    from headwater.broker.topics.partition import Partition
    from headwater.log.log import AppendInfo

logger = logging.getLogger("headwater.broker.groups")
_failures = RateLimitedLogger(logger)

_MAX_QUEUED_BYTES = 256 * 1024


class _Queued(NamedTuple):
    records: Sequence[CoordinatorRecord]
    on_appended: OnAppended
    on_stored: OnStored


class PartitionJournal:
    """One partition of `__consumer_offsets`, as `environment.Journal` wants it."""

    def __init__(self, broker: Broker, partition: Partition) -> None:
        self._broker = broker
        self._partition = partition
        self._queue: list[_Queued] = []
        self._queued_bytes = 0
        self._in_flight = 0
        self._latest: list[OnStored] = []
        """Who is told when the newest append is safe, and with it all before."""

    def append(
        self,
        records: Sequence[CoordinatorRecord],
        on_stored: OnStored,
        producer: Producer | None = None,
    ) -> int:
        """Append at once and return the first offset; raises KafkaError if it cannot be done."""
        self._write_queue()
        try:
            info = self._write(records, producer)
        except LogError as error:
            _failures.error(type(error), "can't store changes of groups: %s", error)
            raise KafkaError(error_code_of(error), str(error)) from error
        self._when_safe(info, [on_stored])
        return info.base_offset

    def enqueue(
        self, records: Sequence[CoordinatorRecord], on_appended: OnAppended, on_stored: OnStored
    ) -> None:
        """Append together with what else comes in this round of the event loop."""
        if not self._queue:
            self._broker.loop.call_soon(self._write_queue)
        self._queue.append(_Queued(records, on_appended, on_stored))
        self._queued_bytes += sum(len(key) + len(value or b"") for key, value in records)
        if self._queued_bytes > _MAX_QUEUED_BYTES:
            self._write_queue()

    def when_stored(self, on_stored: OnStored) -> None:
        """Call back when all that was appended so far is safe; at once if it is already."""
        self._write_queue()
        if self._in_flight:
            self._latest.append(on_stored)
        else:
            on_stored(ErrorCode.NONE)

    def _write_queue(self) -> None:
        queue, self._queue, self._queued_bytes = self._queue, [], 0
        if queue:
            self._write_queued(queue)

    def _write_queued(self, queue: Sequence[_Queued]) -> None:
        try:
            info = self._write([record for queued in queue for record in queued.records])
        except RecordTooLarge as error:
            if len(queue) > 1:
                for queued in queue:
                    self._write_queued([queued])
            else:
                self._fail(queue, error)
        except LogError as error:
            _failures.error(type(error), "can't store changes of groups: %s", error)
            self._fail(queue, error)
        else:
            offset = info.base_offset
            for queued in queue:
                queued.on_appended(offset)
                offset += len(queued.records)
            self._when_safe(info, [queued.on_stored for queued in queue])

    def _fail(self, queue: Iterable[_Queued], error: LogError) -> None:
        # Later, since nobody expects to be called back while it is still asking.
        tell = [queued.on_stored for queued in queue]
        self._broker.loop.call_soon(_tell, tell, error_code_of(error))

    def _write(
        self, records: Sequence[CoordinatorRecord], producer: Producer | None = None
    ) -> AppendInfo:
        now_ms = time_ns() // 1_000_000
        batch = encode_batch(
            [
                Record(position, now_ms, record.key, record.value)
                for position, record in enumerate(records)
            ],
            producer_id=-1 if producer is None else producer.producer_id,
            producer_epoch=-1 if producer is None else producer.epoch,
            is_transactional=producer is not None,
        )
        return self._partition.append(memoryview(batch), now_ms, AppendOrigin.COORDINATOR)

    def _when_safe(self, info: AppendInfo, tell: list[OnStored]) -> None:
        self._in_flight += 1
        self._latest = tell
        if self._broker.fsync:
            self._broker.commits.request(self._partition, partial(self._is_safe, tell))
        else:
            self._partition.advance(info.end)
            self._broker.loop.call_soon(self._is_safe, tell, None)

    def _is_safe(self, tell: list[OnStored], error: LogError | None) -> None:
        self._in_flight -= 1
        _tell(tell, ErrorCode.NONE if error is None else error_code_of(error))


def _tell(waiting: Iterable[OnStored], code: ErrorCode) -> None:
    for on_stored in waiting:
        try:
            on_stored(code)
        except Exception:
            # The others wait for their own answers.
            logger.exception("a request could not be answered after it was stored")
