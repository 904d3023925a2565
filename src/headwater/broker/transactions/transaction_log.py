"""The topic `__transaction_state`: every step of every transaction, on disk before it counts."""

from __future__ import annotations

import logging
from time import time_ns
from typing import TYPE_CHECKING

from headwater.broker.topics.coordinator_partition import coordinator_partition
from headwater.broker.topics.topic_names import TRANSACTION_STATE
from headwater.broker.transactions.records import (
    TransactionRecord,
    decode_key,
    decode_value,
    tombstone,
    transaction_record,
)
from headwater.log.errors import LogError
from headwater.log.log import AppendOrigin
from headwater.log.rate_limited_logger import RateLimitedLogger
from headwater.log.records.record import Record, decode_records, encode_batch
from headwater.protocol.errors import ErrorCode, KafkaError, ProtocolError

if TYPE_CHECKING:
    from headwater.broker.broker import Broker
    from headwater.broker.topics.partition import Partition
    from headwater.broker.transactions.metadata import TransactionMetadata
    from headwater.log.log import Log

logger = logging.getLogger("headwater.broker")
_failures = RateLimitedLogger(logger)


class TransactionLog:
    """Writes and reads the transaction state of one broker."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    @property
    def partitions(self) -> list[Partition]:
        """All partitions of the topic; none before the first transaction."""
        topic = self._broker.topics.by_name.get(TRANSACTION_STATE)
        return [] if topic is None else topic.partitions

    async def ensure_topic(self) -> None:
        """Create the topic, unless it is there; raises KafkaError."""
        if TRANSACTION_STATE not in self._broker.topics.by_name:
            await self._broker.topics.changes.run(self._create_topic)

    def partition_of(self, transactional_id: str) -> Partition:
        """Find the partition that has, or will have, the state of a transactional id."""
        partitions = self.partitions
        if not partitions:
            raise KafkaError(
                ErrorCode.COORDINATOR_NOT_AVAILABLE, f"{TRANSACTION_STATE} does not exist yet."
            )
        return partitions[coordinator_partition(transactional_id, len(partitions))]

    async def write(self, metadata: TransactionMetadata) -> None:
        """Store a step; returns when it is as safe as the broker's durability mode asks."""
        record = transaction_record(metadata)
        await self._stored(self._append(metadata.transactional_id, record))

    async def forget(self, transactional_id: str) -> None:
        """Store that a transactional id is gone."""
        await self._stored(self._append(transactional_id, tombstone(transactional_id)))

    def write_behind(self, metadata: TransactionMetadata) -> None:
        """Store a step that the next start would take again if it were lost."""
        partition = self._append(metadata.transactional_id, transaction_record(metadata))
        if self._broker.fsync:
            self._broker.commits.request(partition)

    async def _create_topic(self) -> None:
        topics = self._broker.topics
        if TRANSACTION_STATE in topics.by_name:
            return  # another client was quicker
        await topics.create_internal(TRANSACTION_STATE)

    def _append(self, transactional_id: str, record: TransactionRecord) -> Partition:
        partition = self.partition_of(transactional_id)
        now_ms = time_ns() // 1_000_000
        batch = encode_batch([Record(0, now_ms, record.key, record.value)])
        try:
            info = partition.append(memoryview(batch), now_ms, AppendOrigin.COORDINATOR)
        except LogError as error:
            raise _unavailable(partition, error) from error
        if not self._broker.fsync:
            partition.advance(info.end)
        return partition

    async def _stored(self, partition: Partition) -> None:
        if not self._broker.fsync:
            return
        try:
            await self._broker.commits.wait(partition)
        except LogError as error:
            raise _unavailable(partition, error) from error


def read_transactions(log: Log) -> dict[str, TransactionMetadata]:
    """Replay one partition of the topic; what cannot be read is logged and left out."""
    found: dict[str, TransactionMetadata] = {}
    for header, batch in log.batches():
        if header.is_control:
            continue
        for record in decode_records(batch):
            try:
                _take(found, record, log)
            except ProtocolError as error:
                logger.error("%s: the record at %d is ignored: %s", log.name, record.offset, error)
    return found


def _take(found: dict[str, TransactionMetadata], record: Record, log: Log) -> None:
    transactional_id = decode_key(record.key or b"")
    if transactional_id is None:
        logger.warning("%s has a kind of record at %d that only a later version knows",
                       log.name, record.offset)  # fmt: skip
    elif record.value is None:
        found.pop(transactional_id, None)
    else:
        found[transactional_id] = decode_value(transactional_id, record.value)


def _unavailable(partition: Partition, error: LogError) -> KafkaError:
    _failures.error(
        type(error), "transaction state cannot be stored in %s: %s", partition.log.name, error
    )
    return KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, str(error))
