"""What the coordinator knows of one transactional id."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

TopicPartition: TypeAlias = tuple[str, int]

NO_PRODUCER_ID = -1
NO_EPOCH = -1
NO_TIME = -1

LEGACY_VERSION = 0
"""Transaction version of clients that add partitions themselves and keep their epoch."""
TRANSACTION_VERSION = 2
"""The newest transaction version: partitions are added on the way, each end bumps the epoch."""


class TransactionState(Enum):
    """Where a transaction stands: Kafka's number for its records and name for its tools."""

    def __init__(self, number: int, text: str) -> None:
        self.number = number
        self.text = text

    EMPTY = (0, "Empty")
    ONGOING = (1, "Ongoing")
    PREPARE_COMMIT = (2, "PrepareCommit")
    PREPARE_ABORT = (3, "PrepareAbort")
    COMPLETE_COMMIT = (4, "CompleteCommit")
    COMPLETE_ABORT = (5, "CompleteAbort")
    DEAD = (6, "Dead")
    PREPARE_EPOCH_FENCE = (7, "PrepareEpochFence")

    @classmethod
    def of_number(cls, number: int) -> TransactionState:
        """Find a state by Kafka's number for it."""
        return _BY_NUMBER[number]

    @property
    def is_prepared(self) -> bool:
        """Whether the outcome is decided but not yet in all partitions."""
        return self in _PREPARED

    @property
    def is_idle(self) -> bool:
        """Whether no transaction is open."""
        return self in _IDLE


_BY_NUMBER = {state.number: state for state in TransactionState}
_PREPARED = (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)
_IDLE = (
    TransactionState.EMPTY,
    TransactionState.COMPLETE_COMMIT,
    TransactionState.COMPLETE_ABORT,
)


class ProducerIdAndEpoch(NamedTuple):
    """Who a producer is at the moment."""

    producer_id: int
    epoch: int


@dataclass(frozen=True, slots=True)
class TransactionMetadata:
    """The state of a transactional id; every step makes a new one, which is then written."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    state: TransactionState
    last_update_ms: int
    partitions: frozenset[TopicPartition] = frozenset()
    start_ms: int = NO_TIME
    previous_producer_id: int = NO_PRODUCER_ID
    next_producer_id: int = NO_PRODUCER_ID
    """Takes over once the markers are written, where the epochs of the present id have run out."""
    last_producer_epoch: int = NO_EPOCH
    """The epoch before this one, if its owner may still ask again; it is in no record."""
    client_version: int = LEGACY_VERSION

    @property
    def producer(self) -> ProducerIdAndEpoch:
        """The producer that may use the transactional id."""
        return ProducerIdAndEpoch(self.producer_id, self.producer_epoch)
