"""The state machine of a transaction: from what is and what is asked to what comes next.

Nothing here waits, writes or looks at a clock. A step that must not be taken raises KafkaError
with the code that Kafka's clients expect.
"""

from __future__ import annotations

from dataclasses import replace

from headwater.broker.transactions.metadata import (
    LEGACY_VERSION,
    NO_EPOCH,
    NO_PRODUCER_ID,
    NO_TIME,
    TRANSACTION_VERSION,
    ProducerIdAndEpoch,
    TopicPartition,
    TransactionMetadata,
    TransactionState,
)
from headwater.protocol.errors import ErrorCode, KafkaError

LAST_EPOCH = 2**15 - 2
"""The last epoch that a producer gets; the one after it fences and then the id is used up."""


def create(
    transactional_id: str, producer_id: int, timeout_ms: int, now_ms: int
) -> TransactionMetadata:
    """Return a transactional id that nobody has used; `initialize` gives it its first epoch."""
    return TransactionMetadata(
        transactional_id, producer_id, NO_EPOCH, timeout_ms, TransactionState.EMPTY, now_ms
    )


def has_last_epoch(metadata: TransactionMetadata) -> bool:
    """Whether the next bump of the epoch needs a new producer id."""
    return metadata.producer_epoch >= LAST_EPOCH


def check_owner(metadata: TransactionMetadata, expected: ProducerIdAndEpoch | None) -> None:
    """Refuse a producer that wants to go on after an error although another has taken over."""
    if expected is None or metadata.producer_epoch == NO_EPOCH:
        return
    asks_again_after_rotation = (
        expected.producer_id == metadata.previous_producer_id and expected.epoch >= LAST_EPOCH
    )
    if expected.producer_id != metadata.producer_id and not asks_again_after_rotation:
        raise _fenced(metadata, expected)


def initialize(
    metadata: TransactionMetadata,
    expected: ProducerIdAndEpoch | None,
    timeout_ms: int,
    new_producer_id: int,
    now_ms: int,
) -> TransactionMetadata:
    """Give the transactional id to a producer: InitProducerId when no transaction is open.

    `new_producer_id` is used only if `has_last_epoch`.
    """
    check_owner(metadata, expected)
    if not metadata.state.is_idle:
        raise _concurrent(metadata)
    epoch = metadata.producer_epoch
    if has_last_epoch(metadata) and (expected is None or expected.epoch == epoch):
        producer = ProducerIdAndEpoch(new_producer_id, 0)
        last_epoch = NO_EPOCH if expected is None else epoch
    elif expected is None:
        # Whoever had the id before gets no second chance: its epoch is not noted.
        producer, last_epoch = ProducerIdAndEpoch(metadata.producer_id, epoch + 1), NO_EPOCH
    elif epoch in (NO_EPOCH, expected.epoch):
        producer, last_epoch = ProducerIdAndEpoch(metadata.producer_id, epoch + 1), epoch
    elif expected.epoch == metadata.last_producer_epoch:
        # The answer to this very request got lost; the epoch was bumped already.
        producer, last_epoch = metadata.producer, metadata.last_producer_epoch
    else:
        raise _fenced(metadata, expected)
    return replace(
        metadata,
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        last_producer_epoch=last_epoch,
        previous_producer_id=metadata.producer_id,
        next_producer_id=NO_PRODUCER_ID,
        timeout_ms=timeout_ms,
        state=TransactionState.EMPTY,
        partitions=frozenset(),
        start_ms=NO_TIME,
        last_update_ms=now_ms,
    )


def add_partitions(
    metadata: TransactionMetadata,
    producer: ProducerIdAndEpoch,
    partitions: frozenset[TopicPartition],
    client_version: int,
    now_ms: int,
) -> TransactionMetadata:
    """Begin a transaction or extend it; the same object if the partitions are in it already."""
    _check_producer(metadata, producer)
    if metadata.state.is_prepared:
        raise _concurrent(metadata)
    is_ongoing = metadata.state is TransactionState.ONGOING
    if is_ongoing and partitions <= metadata.partitions:
        return metadata
    return replace(
        metadata,
        state=TransactionState.ONGOING,
        partitions=metadata.partitions | partitions,
        start_ms=metadata.start_ms if is_ongoing else now_ms,
        last_update_ms=now_ms,
        previous_producer_id=metadata.producer_id,
        client_version=client_version,
    )


def verify(
    metadata: TransactionMetadata, producer: ProducerIdAndEpoch, partition: TopicPartition
) -> None:
    """See that a producer may write to a partition as part of its transaction."""
    _check_producer(metadata, producer)
    if metadata.state.is_prepared:
        raise _concurrent(metadata)
    if partition not in metadata.partitions:
        raise KafkaError(
            ErrorCode.TRANSACTION_ABORTABLE,
            f"{partition[0]}-{partition[1]} is not part of the open transaction of "
            f"{metadata.transactional_id}. Abort it and begin again.",
        )


def end(
    metadata: TransactionMetadata,
    producer: ProducerIdAndEpoch,
    committed: bool,
    client_version: int,
    new_producer_id: int,
    now_ms: int,
) -> TransactionMetadata:
    """Decide a transaction: EndTxn. The same object if it has already ended just so."""
    if client_version < TRANSACTION_VERSION:
        return _end_in_place(metadata, producer, committed, now_ms)
    is_retry = _check_bumped_producer(metadata, producer)
    state = metadata.state
    if state is TransactionState.ONGOING:
        return _decide(metadata, committed, new_producer_id, now_ms)
    if state.is_prepared:
        raise _concurrent(metadata) if _ends_as(state, committed) else _wrong_state(metadata)
    if is_retry:
        if _ends_as(state, committed):
            return metadata
        raise _wrong_state(metadata)
    if committed:
        raise _wrong_state(metadata)
    # The client cannot know whether any of its writes arrived and began the transaction. So it
    # may abort what does not exist, and gets its new epoch all the same.
    return _decide(replace(metadata, start_ms=now_ms), committed, new_producer_id, now_ms)


def abort(metadata: TransactionMetadata, new_producer_id: int, now_ms: int) -> TransactionMetadata:
    """Abort an open transaction on the coordinator's own account, which fences its producer."""
    return _decide(metadata, False, new_producer_id, now_ms)


def complete(metadata: TransactionMetadata, now_ms: int) -> TransactionMetadata:
    """Close a decided transaction whose markers are all written."""
    is_commit = metadata.state is TransactionState.PREPARE_COMMIT
    rotates = metadata.next_producer_id != NO_PRODUCER_ID
    return replace(
        metadata,
        state=TransactionState.COMPLETE_COMMIT if is_commit else TransactionState.COMPLETE_ABORT,
        producer_id=metadata.next_producer_id if rotates else metadata.producer_id,
        producer_epoch=0 if rotates else metadata.producer_epoch,
        previous_producer_id=metadata.producer_id,
        next_producer_id=NO_PRODUCER_ID,
        partitions=frozenset(),
        last_update_ms=now_ms,
    )


def has_timed_out(metadata: TransactionMetadata, now_ms: int) -> bool:
    """Whether an open transaction has taken longer than its producer said it would."""
    is_ongoing = metadata.state is TransactionState.ONGOING
    return is_ongoing and now_ms - metadata.start_ms > metadata.timeout_ms


def has_expired(metadata: TransactionMetadata, expiration_ms: int, now_ms: int) -> bool:
    """Whether nobody has used the transactional id for so long that it may be forgotten."""
    return metadata.state.is_idle and now_ms - metadata.last_update_ms >= expiration_ms


def _end_in_place(
    metadata: TransactionMetadata, producer: ProducerIdAndEpoch, committed: bool, now_ms: int
) -> TransactionMetadata:
    _check_producer(metadata, producer)
    state = metadata.state
    if state is TransactionState.ONGOING:
        return replace(
            metadata,
            state=_decided(committed),
            previous_producer_id=metadata.producer_id,
            last_update_ms=now_ms,
            client_version=LEGACY_VERSION,
        )
    if not _ends_as(state, committed):
        raise _wrong_state(metadata)
    if state.is_prepared:
        raise _concurrent(metadata)
    return metadata


def _decide(
    metadata: TransactionMetadata, committed: bool, new_producer_id: int, now_ms: int
) -> TransactionMetadata:
    """The markers carry the next epoch, so that nothing of the old one can come after them."""
    return replace(
        metadata,
        state=_decided(committed),
        producer_epoch=metadata.producer_epoch + 1,
        last_producer_epoch=metadata.producer_epoch,
        previous_producer_id=metadata.producer_id,
        next_producer_id=new_producer_id if has_last_epoch(metadata) else NO_PRODUCER_ID,
        last_update_ms=now_ms,
        client_version=TRANSACTION_VERSION,
    )


def _check_producer(metadata: TransactionMetadata, producer: ProducerIdAndEpoch) -> None:
    if producer.producer_id != metadata.producer_id:
        raise _wrong_producer_id(metadata, producer)
    if producer.epoch != metadata.producer_epoch:
        raise _fenced(metadata, producer)


def _check_bumped_producer(metadata: TransactionMetadata, producer: ProducerIdAndEpoch) -> bool:
    """Check the producer of an end that bumps the epoch; says whether it asks a second time."""
    after_rotation = (
        producer.producer_id == metadata.previous_producer_id != metadata.producer_id
        and producer.epoch == LAST_EPOCH
        and metadata.producer_epoch == 0
    )
    if producer.producer_id != metadata.producer_id and not after_rotation:
        raise _wrong_producer_id(metadata, producer)
    is_retry = after_rotation or metadata.producer_epoch == producer.epoch + 1
    is_current = producer == metadata.producer
    match metadata.state:
        case TransactionState.COMPLETE_COMMIT | TransactionState.COMPLETE_ABORT:
            is_known = is_retry or is_current
        case TransactionState.PREPARE_COMMIT | TransactionState.PREPARE_ABORT:
            is_known = is_retry
        case _:
            is_known = is_current
    if not is_known:
        raise _fenced(metadata, producer)
    return is_retry


def _decided(committed: bool) -> TransactionState:
    return TransactionState.PREPARE_COMMIT if committed else TransactionState.PREPARE_ABORT


def _ends_as(state: TransactionState, committed: bool) -> bool:
    if committed:
        return state in (TransactionState.PREPARE_COMMIT, TransactionState.COMPLETE_COMMIT)
    return state in (TransactionState.PREPARE_ABORT, TransactionState.COMPLETE_ABORT)


def _concurrent(metadata: TransactionMetadata) -> KafkaError:
    return KafkaError(
        ErrorCode.CONCURRENT_TRANSACTIONS,
        f"{metadata.transactional_id} is in state {metadata.state.text}. Try again.",
    )


def _wrong_state(metadata: TransactionMetadata) -> KafkaError:
    return KafkaError(
        ErrorCode.INVALID_TXN_STATE,
        f"{metadata.transactional_id} is in state {metadata.state.text}, "
        "which does not allow to end a transaction this way.",
    )


def _wrong_producer_id(metadata: TransactionMetadata, producer: ProducerIdAndEpoch) -> KafkaError:
    return KafkaError(
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        f"{metadata.transactional_id} belongs to producer {metadata.producer_id}, "
        f"not to {producer.producer_id}.",
    )


def _fenced(metadata: TransactionMetadata, producer: ProducerIdAndEpoch) -> KafkaError:
    return KafkaError(
        ErrorCode.PRODUCER_FENCED,
        f"{metadata.transactional_id} has been taken over: it is at producer "
        f"{metadata.producer_id}, epoch {metadata.producer_epoch}, "
        f"not {producer.producer_id}, {producer.epoch}.",
    )
