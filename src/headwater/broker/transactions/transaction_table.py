"""The transactional ids that the coordinator knows, and those that it has still to read."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from headwater.broker.transactions.metadata import NO_EPOCH, TransactionMetadata
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from headwater.broker.transactions.transaction_log import TransactionLog


class Transaction:
    """A transactional id with the queue of those who want to change it."""

    __slots__ = ("completion", "lock", "metadata", "queued")

    def __init__(self, metadata: TransactionMetadata) -> None:
        self.metadata = metadata
        self.lock = asyncio.Lock()
        self.queued = 0
        """How many have, or wait for, their turn."""
        self.completion: asyncio.Task[None] | None = None
        """Writes the markers of a decided transaction."""


class TransactionTable:
    """Transactions by transactional id; a partition of the log is loaded as a whole."""

    def __init__(self, log: TransactionLog) -> None:
        self._log = log
        self._by_id: dict[str, Transaction] = {}
        self._loading: set[int] = set()

    def __iter__(self) -> Iterator[Transaction]:
        return iter(tuple(self._by_id.values()))

    def __contains__(self, transaction: Transaction) -> bool:
        return self._by_id.get(transaction.metadata.transactional_id) is transaction

    @property
    def is_loading(self) -> bool:
        """Whether some transactional ids are not known yet."""
        return bool(self._loading)

    def expect(self, partitions: Iterable[int]) -> None:
        """Ask everyone for patience whose transactional id is in one of these partitions."""
        self._loading = set(partitions)

    def load(self, partition: int, found: Iterable[TransactionMetadata]) -> list[Transaction]:
        """Take in what a partition has; returns the new transactions."""
        loaded = [Transaction(metadata) for metadata in found]
        for transaction in loaded:
            self._by_id[transaction.metadata.transactional_id] = transaction
        self._loading.discard(partition)
        return loaded

    def get(self, transactional_id: str) -> Transaction | None:
        """Look a transactional id up; raises KafkaError while it is being loaded."""
        if self._loading and self._log.partition_of(transactional_id).index in self._loading:
            raise KafkaError(
                ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
                f"The state of {transactional_id} is still being loaded. Try again.",
            )
        return self._by_id.get(transactional_id)

    def find(self, transactional_id: str, missing: ErrorCode) -> Transaction:
        """Look up an id that a producer must have; raises KafkaError."""
        if not transactional_id:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "The transactional id is empty.")
        transaction = self.get(transactional_id)
        if transaction is None or transaction.metadata.producer_epoch == NO_EPOCH:
            raise KafkaError(missing, f"The transactional id {transactional_id} is not known.")
        return transaction

    def has_queue(self, transactional_id: str) -> bool:
        """Whether anybody has, or waits for, a turn; nobody has while it is being loaded."""
        transaction = self._by_id.get(transactional_id)
        return transaction is not None and transaction.queued > 0

    def add(self, metadata: TransactionMetadata) -> Transaction:
        """Add a transactional id, unless another request was quicker."""
        return self._by_id.setdefault(metadata.transactional_id, Transaction(metadata))

    def remove(self, transaction: Transaction) -> None:
        """Forget a transactional id."""
        if transaction in self:
            del self._by_id[transaction.metadata.transactional_id]

    def clear(self) -> None:
        """Forget all of them."""
        self._by_id.clear()
        self._loading.clear()
