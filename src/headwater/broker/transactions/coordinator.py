"""The transaction coordinator: takes each transaction through its states, one step at a time.

A step is written to `__transaction_state` before anyone hears of it, and the steps of one
transactional id follow each other. Once an outcome is written, it stands: the markers follow
until every partition has one, if need be after the next start.
"""

from __future__ import annotations

import asyncio
import logging
from time import time_ns
from typing import TYPE_CHECKING, TypeVar

from headwater.broker.topics.topic_names import TRANSACTION_STATE
from headwater.broker.transactions import transitions
from headwater.broker.transactions.markers import RETRY_S, MarkerWriter
from headwater.broker.transactions.metadata import (
    NO_EPOCH,
    NO_PRODUCER_ID,
    ProducerIdAndEpoch,
    TopicPartition,
    TransactionMetadata,
    TransactionState,
)
from headwater.broker.transactions.producer_ids import ProducerIds
from headwater.broker.transactions.transaction_log import TransactionLog, read_transactions
from headwater.broker.transactions.transaction_table import Transaction, TransactionTable
from headwater.log.errors import LogError
from headwater.log.records.end_txn_marker import EndTxnMarker
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable

    from headwater.broker.broker import Broker
    from headwater.broker.topics.partition import Partition
    from headwater.broker.topics.topics import Topic

    T = TypeVar("T")

logger = logging.getLogger("headwater.broker")

SETTLE_S = 5.0
"""How long a request waits for the transaction before it to be completed."""


class TransactionCoordinator:
    """All transactional ids and producer ids of one broker."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._ids = ProducerIds(broker.config.data_dir, self._first_unused_producer_id)
        self._log = TransactionLog(broker)
        self._markers = MarkerWriter(broker)
        self._table = TransactionTable(self._log)
        self._tasks: set[asyncio.Task[object]] = set()

    def start(self) -> None:
        """Begin to load what was under way; until then its coordinator is said to be loading."""
        unread = [
            partition
            for partition in self._log.partitions
            if partition.log.log_end_offset > partition.log.log_start_offset
        ]
        self._table.expect(partition.index for partition in unread)
        self._broker.topics.on_delete(self._forget_topic)
        config = self._broker.config
        self._spawn(self._load(unread))
        self._spawn(
            self._repeat(
                config.integer("transaction.abort.timed.out.transaction.cleanup.interval.ms"),
                self._abort_timed_out,
            )
        )
        self._spawn(
            self._repeat(
                config.integer("transaction.remove.expired.transaction.cleanup.interval.ms"),
                self._forget_expired,
            )
        )
        self._spawn(
            self._repeat(
                config.integer("producer.id.expiration.check.interval.ms"),
                self._forget_silent_producers,
            )
        )

    async def stop(self) -> None:
        """Leave everything where it stands; the next start completes it."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._ids.close()

    @property
    def transactions(self) -> Iterable[TransactionMetadata]:
        """All transactional ids."""
        return [transaction.metadata for transaction in self._table]

    @property
    def is_loading(self) -> bool:
        """Whether some transactional ids are not known yet."""
        return self._table.is_loading

    async def ensure_topic(self) -> None:
        """Create `__transaction_state` if this is the first transaction of all."""
        await self._log.ensure_topic()

    def find(self, transactional_id: str) -> TransactionMetadata:
        """Look a transactional id up; raises KafkaError."""
        return self._table.find(transactional_id, ErrorCode.TRANSACTIONAL_ID_NOT_FOUND).metadata

    async def init_producer_id(
        self,
        transactional_id: str | None,
        timeout_ms: int,
        expected: ProducerIdAndEpoch | None,
    ) -> ProducerIdAndEpoch:
        """Give out a producer id, or take over a transactional id and end what it had open."""
        if transactional_id is None:
            return ProducerIdAndEpoch(await self._ids.allocate(), 0)
        if not transactional_id:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "The transactional id is empty.")
        longest = self._broker.config.integer("transaction.max.timeout.ms")
        if not 0 < timeout_ms <= longest:
            raise KafkaError(
                ErrorCode.INVALID_TRANSACTION_TIMEOUT,
                f"The time-out of {timeout_ms} ms is not between 1 and {longest} ms.",
            )
        await self.ensure_topic()
        transaction = await self._find_or_create(transactional_id, timeout_ms)
        return await asyncio.shield(
            self._queue_up(transaction, lambda: self._take_over(transaction, timeout_ms, expected))
        )

    def in_turn(self, transactional_id: str, work: Callable[[], Awaitable[T]]) -> Awaitable[T]:
        """Do something after all who asked before and before all who ask later.

        The place in the queue is taken by the call itself. The work is done to its end, also if
        the client that asked for it hangs up. Raises KafkaError.
        """
        transaction = self._table.find(transactional_id, ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        return asyncio.shield(self._queue_up(transaction, work))

    def has_queue(self, transactional_id: str) -> bool:
        """Whether anybody has, or waits for, a turn."""
        return self._table.has_queue(transactional_id)

    async def add_partitions(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: frozenset[TopicPartition],
        client_version: int,
    ) -> None:
        """Make partitions part of the open transaction, or begin one with them."""
        await self.in_turn(
            transactional_id,
            lambda: self.add_in_turn(transactional_id, producer, partitions, client_version),
        )

    async def add_in_turn(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: frozenset[TopicPartition],
        client_version: int,
    ) -> None:
        """Do the same for someone who has the turn already."""
        transaction = self._table.find(transactional_id, ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        await self._take(
            transaction,
            transitions.add_partitions(
                transaction.metadata, producer, partitions, client_version, _now_ms()
            ),
        )

    def verify(
        self, transactional_id: str, producer: ProducerIdAndEpoch, partition: TopicPartition
    ) -> None:
        """See that a partition is part of the open transaction; raises KafkaError."""
        transaction = self._table.find(transactional_id, ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        transitions.verify(transaction.metadata, producer, partition)

    async def end(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        client_version: int,
        *,
        committed: bool,
    ) -> ProducerIdAndEpoch:
        """Commit or abort; returns who the producer is from now on."""
        transaction = self._table.find(transactional_id, ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        return await self.in_turn(
            transactional_id, lambda: self._end(transaction, producer, client_version, committed)
        )

    async def write_marker(
        self, partition: Partition, producer: ProducerIdAndEpoch, marker: EndTxnMarker
    ) -> None:
        """End a transaction in one partition, whatever its state here; raises LogError."""
        await asyncio.shield(self._spawn(self._markers.write_to(partition, producer, marker)))

    async def _find_or_create(self, transactional_id: str, timeout_ms: int) -> Transaction:
        transaction = self._table.get(transactional_id)
        if transaction is None:
            producer_id = await self._ids.allocate()
            transaction = self._table.add(
                transitions.create(transactional_id, producer_id, timeout_ms, _now_ms())
            )
        return transaction

    async def _take_over(
        self, transaction: Transaction, timeout_ms: int, expected: ProducerIdAndEpoch | None
    ) -> ProducerIdAndEpoch:
        transitions.check_owner(transaction.metadata, expected)
        name = transaction.metadata.transactional_id
        if transaction.metadata.state is TransactionState.ONGOING:
            logger.info("aborting the open transaction of %s: a new producer takes over", name)
            await self._abort(transaction)
            await self._settle(transaction)
        metadata = transaction.metadata
        new_id = await self._new_id_if_needed(metadata)
        step = transitions.initialize(metadata, expected, timeout_ms, new_id, _now_ms())
        try:
            await self._take(transaction, step)
        except KafkaError:
            if metadata.producer_epoch == NO_EPOCH:
                self._table.remove(transaction)
            raise
        return step.producer

    async def _end(
        self,
        transaction: Transaction,
        producer: ProducerIdAndEpoch,
        client_version: int,
        committed: bool,
    ) -> ProducerIdAndEpoch:
        metadata = transaction.metadata
        new_id = await self._new_id_if_needed(metadata)
        step = transitions.end(metadata, producer, committed, client_version, new_id, _now_ms())
        if step is metadata:
            return metadata.producer
        await self._decide(transaction, step)
        return transitions.complete(step, step.last_update_ms).producer

    def _queue_up(
        self, transaction: Transaction, work: Callable[[], Awaitable[T]]
    ) -> asyncio.Task[T]:
        transaction.queued += 1
        return self._spawn(self._take_turn(transaction, work))

    async def _take_turn(self, transaction: Transaction, work: Callable[[], Awaitable[T]]) -> T:
        try:
            async with transaction.lock:
                await self._settle(transaction)
                if transaction not in self._table:
                    raise KafkaError(
                        ErrorCode.CONCURRENT_TRANSACTIONS, "The transactional id has just expired."
                    )
                return await work()
        finally:
            transaction.queued -= 1

    async def _abort(self, transaction: Transaction) -> None:
        new_id = await self._new_id_if_needed(transaction.metadata)
        step = transitions.abort(transaction.metadata, new_id, _now_ms())
        await self._decide(transaction, step)

    async def _decide(self, transaction: Transaction, step: TransactionMetadata) -> None:
        await self._take(transaction, step)
        self._complete_soon(transaction)

    async def _take(self, transaction: Transaction, step: TransactionMetadata) -> None:
        if step is not transaction.metadata:
            await self._log.write(step)
            transaction.metadata = step

    def _complete_soon(self, transaction: Transaction) -> None:
        transaction.completion = self._spawn(self._complete(transaction))

    async def _complete(self, transaction: Transaction) -> None:
        """Needs no lock: nobody takes another step while a transaction is decided."""
        metadata = transaction.metadata
        coordinator_epoch = self._log.partition_of(metadata.transactional_id).leader_epoch
        is_commit = metadata.state is TransactionState.PREPARE_COMMIT
        await self._markers.write(
            metadata.partitions, metadata.producer, EndTxnMarker(is_commit, coordinator_epoch)
        )
        step = transitions.complete(metadata, _now_ms())
        while transaction in self._table:
            try:
                self._log.write_behind(step)
                break
            except KafkaError:
                await asyncio.sleep(RETRY_S)
        transaction.metadata = step
        transaction.completion = None

    async def _settle(self, transaction: Transaction) -> None:
        if transaction.completion is not None:
            await asyncio.wait([transaction.completion], timeout=SETTLE_S)

    async def _new_id_if_needed(self, metadata: TransactionMetadata) -> int:
        if not transitions.has_last_epoch(metadata):
            return NO_PRODUCER_ID
        return await self._ids.allocate()

    async def _abort_timed_out(self) -> None:
        for transaction in self._table:
            if not transitions.has_timed_out(transaction.metadata, _now_ms()):
                continue
            async with transaction.lock:
                metadata = transaction.metadata
                if transitions.has_timed_out(metadata, _now_ms()):
                    logger.info(
                        "aborting the transaction of %s, which took longer than %d ms",
                        metadata.transactional_id, metadata.timeout_ms,
                    )  # fmt: skip
                    await self._abort(transaction)

    async def _forget_expired(self) -> None:
        expiration_ms = self._broker.config.integer("transactional.id.expiration.ms")
        for transaction in self._table:
            if not transitions.has_expired(transaction.metadata, expiration_ms, _now_ms()):
                continue
            async with transaction.lock:
                if transitions.has_expired(transaction.metadata, expiration_ms, _now_ms()):
                    await self._log.forget(transaction.metadata.transactional_id)
                    self._table.remove(transaction)

    async def _forget_silent_producers(self) -> None:
        expiration_ms = self._broker.config.integer("producer.id.expiration.ms")
        for log in tuple(self._broker.logs.logs.values()):
            log.forget_silent_producers(expiration_ms, _now_ms())
            await asyncio.sleep(0)

    async def _load(self, unread: Iterable[Partition]) -> None:
        for partition in unread:
            try:
                found = await self._broker.loop.run_in_executor(
                    None, read_transactions, partition.log
                )
            except LogError as error:
                logger.error(
                    "the transactions in %s cannot be served: %s", partition.log.name, error
                )
                continue
            for transaction in self._table.load(partition.index, found.values()):
                if transaction.metadata.state.is_prepared:
                    self._complete_soon(transaction)

    async def _repeat(self, interval_ms: int, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(interval_ms / 1000)
            try:
                await work()
            except KafkaError as error:
                logger.error("background work of transactions failed: %s", error)

    def _forget_topic(self, topic: Topic) -> None:
        if topic.name == TRANSACTION_STATE:
            logger.warning("%s was deleted: all transactional ids are forgotten", topic.name)
            self._table.clear()

    def _first_unused_producer_id(self) -> int:
        if self._table.is_loading:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "Try again.")
        known = [
            entry.producer_id
            for log in tuple(self._broker.logs.logs.values())
            for entry in tuple(log.producers.entries)
        ]
        for metadata in self.transactions:
            known += metadata.producer_id, metadata.next_producer_id
        return max(known, default=-1) + 1

    def _spawn(self, work: Coroutine[object, object, T]) -> asyncio.Task[T]:
        task = self._broker.loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None and not isinstance(error, KafkaError | LogError):
            logger.error("a transaction could not go on", exc_info=error)


def _now_ms() -> int:
    return time_ns() // 1_000_000
