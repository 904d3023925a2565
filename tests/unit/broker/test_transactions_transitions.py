"""The state machine of a transaction, step by step."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headwater.broker.transactions import transitions
from headwater.broker.transactions.metadata import (
    ProducerIdAndEpoch,
    TransactionMetadata,
    TransactionState,
)
from headwater.protocol.errors import ErrorCode, KafkaError

NOW = 1_700_000_000_000
ORDERS = frozenset({("orders", 0)})
BILLS = frozenset({("bills", 3)})
LEGACY, BUMPING = 0, 2


def fresh(epoch: int = 0, **changes: object) -> TransactionMetadata:
    metadata = TransactionMetadata("till-1", 7, epoch, 60_000, TransactionState.EMPTY, NOW)
    return replace(metadata, **changes)  # type: ignore[arg-type]


def ongoing(epoch: int = 0, version: int = BUMPING) -> TransactionMetadata:
    return transitions.add_partitions(
        fresh(epoch), ProducerIdAndEpoch(7, epoch), ORDERS, version, NOW
    )


def init(
    metadata: TransactionMetadata, expected: tuple[int, int] | None = None, new_id: int = -1
) -> TransactionMetadata:
    who = None if expected is None else ProducerIdAndEpoch(*expected)
    return transitions.initialize(metadata, who, 60_000, new_id, NOW)


def end(
    metadata: TransactionMetadata,
    epoch: int,
    *,
    committed: bool = True,
    version: int = BUMPING,
    producer_id: int = 7,
    new_id: int = -1,
) -> TransactionMetadata:
    producer = ProducerIdAndEpoch(producer_id, epoch)
    return transitions.end(metadata, producer, committed, version, new_id, NOW + 5)


def refusal(error: pytest.ExceptionInfo[KafkaError]) -> ErrorCode:
    return error.value.code


class TestInitialize:
    def test_the_first_producer_gets_epoch_0(self) -> None:
        created = transitions.create("till-1", 7, 1000, NOW)
        assert init(created).producer == (7, 0)

    def test_each_producer_fences_the_one_before(self) -> None:
        second = init(fresh(epoch=4))
        assert second.producer == (7, 5)
        assert second.last_producer_epoch == -1
        with pytest.raises(KafkaError) as error:
            init(second, expected=(7, 4))
        assert refusal(error) is ErrorCode.PRODUCER_FENCED

    def test_a_producer_may_go_on_after_an_error_and_ask_twice(self) -> None:
        bumped = init(fresh(epoch=4), expected=(7, 4))
        assert bumped.producer == (7, 5)
        assert init(bumped, expected=(7, 4)).producer == (7, 5)

    def test_a_stranger_is_fenced(self) -> None:
        with pytest.raises(KafkaError) as error:
            init(fresh(epoch=4), expected=(8, 4))
        assert refusal(error) is ErrorCode.PRODUCER_FENCED

    def test_after_the_last_epoch_comes_a_new_id(self) -> None:
        rotated = init(fresh(epoch=32766), new_id=99)
        assert rotated.producer == (99, 0)
        assert rotated.previous_producer_id == 7
        again = init(fresh(epoch=32766), expected=(7, 32766), new_id=99)
        assert init(again, expected=(7, 32766)).producer == (99, 0)

    def test_a_decided_transaction_has_to_be_completed_first(self) -> None:
        with pytest.raises(KafkaError) as error:
            init(end(ongoing(), 0))
        assert refusal(error) is ErrorCode.CONCURRENT_TRANSACTIONS

    def test_it_forgets_the_transaction_before(self) -> None:
        done = transitions.complete(end(ongoing(), 0), NOW)
        again = init(done)
        assert (again.state, again.start_ms) == (TransactionState.EMPTY, -1)
        assert again.producer == (7, 2)


class TestAddPartitions:
    def test_the_first_partition_begins_the_transaction(self) -> None:
        metadata = ongoing()
        assert metadata.state is TransactionState.ONGOING
        assert metadata.start_ms == NOW

    def test_more_partitions_do_not_move_the_start(self) -> None:
        more = transitions.add_partitions(
            ongoing(), ProducerIdAndEpoch(7, 0), BILLS, BUMPING, NOW + 9
        )
        assert more.partitions == ORDERS | BILLS
        assert (more.start_ms, more.last_update_ms) == (NOW, NOW + 9)

    def test_known_partitions_need_no_record(self) -> None:
        metadata = ongoing()
        same = transitions.add_partitions(
            metadata, ProducerIdAndEpoch(7, 0), ORDERS, BUMPING, NOW + 9
        )
        assert same is metadata

    @pytest.mark.parametrize(
        ("producer", "code"),
        [
            ((8, 0), ErrorCode.INVALID_PRODUCER_ID_MAPPING),
            ((7, 1), ErrorCode.PRODUCER_FENCED),
        ],
    )
    def test_only_the_owner_may(self, producer: tuple[int, int], code: ErrorCode) -> None:
        with pytest.raises(KafkaError) as error:
            transitions.add_partitions(
                ongoing(), ProducerIdAndEpoch(*producer), BILLS, BUMPING, NOW
            )
        assert refusal(error) is code

    def test_not_while_the_last_one_is_being_completed(self) -> None:
        prepared = end(ongoing(), 0, version=LEGACY)
        with pytest.raises(KafkaError) as error:
            transitions.add_partitions(prepared, ProducerIdAndEpoch(7, 0), BILLS, LEGACY, NOW)
        assert refusal(error) is ErrorCode.CONCURRENT_TRANSACTIONS


class TestVerify:
    def test_a_partition_of_the_transaction_may_be_written(self) -> None:
        transitions.verify(ongoing(), ProducerIdAndEpoch(7, 0), ("orders", 0))

    def test_another_one_may_not(self) -> None:
        with pytest.raises(KafkaError) as error:
            transitions.verify(ongoing(), ProducerIdAndEpoch(7, 0), ("orders", 1))
        assert refusal(error) is ErrorCode.TRANSACTION_ABORTABLE


class TestEndWithoutBump:
    """Clients of before transaction version 2."""

    def test_the_epoch_stays(self) -> None:
        prepared = end(ongoing(version=LEGACY), 0, version=LEGACY)
        assert prepared.state is TransactionState.PREPARE_COMMIT
        assert prepared.partitions == ORDERS
        completed = transitions.complete(prepared, NOW + 6)
        assert completed.state is TransactionState.COMPLETE_COMMIT
        assert completed.producer == (7, 0)
        assert completed.partitions == frozenset()
        assert completed.start_ms == NOW

    @pytest.mark.parametrize("committed", [True, False])
    def test_to_ask_again_is_answered_with_success(self, committed: bool) -> None:
        prepared = end(ongoing(), 0, committed=committed, version=LEGACY)
        with pytest.raises(KafkaError) as error:
            end(prepared, 0, committed=committed, version=LEGACY)
        assert refusal(error) is ErrorCode.CONCURRENT_TRANSACTIONS
        completed = transitions.complete(prepared, NOW)
        assert end(completed, 0, committed=committed, version=LEGACY) is completed
        with pytest.raises(KafkaError) as error:
            end(completed, 0, committed=not committed, version=LEGACY)
        assert refusal(error) is ErrorCode.INVALID_TXN_STATE

    def test_there_must_be_a_transaction(self) -> None:
        for committed in (True, False):
            with pytest.raises(KafkaError) as error:
                end(fresh(), 0, committed=committed, version=LEGACY)
            assert refusal(error) is ErrorCode.INVALID_TXN_STATE


class TestEndWithBump:
    """Transaction version 2."""

    @pytest.mark.parametrize("committed", [True, False])
    def test_every_end_bumps_the_epoch(self, committed: bool) -> None:
        prepared = end(ongoing(epoch=4), 4, committed=committed)
        assert prepared.producer == (7, 5)
        assert prepared.last_producer_epoch == 4
        completed = transitions.complete(prepared, NOW)
        assert completed.producer == (7, 5)
        assert completed.state.text == ("CompleteCommit" if committed else "CompleteAbort")

    def test_to_ask_again_is_answered_with_success(self) -> None:
        prepared = end(ongoing(epoch=4), 4)
        with pytest.raises(KafkaError) as error:
            end(prepared, 4)
        assert refusal(error) is ErrorCode.CONCURRENT_TRANSACTIONS
        completed = transitions.complete(prepared, NOW)
        assert end(completed, 4) is completed
        with pytest.raises(KafkaError) as error:
            end(completed, 4, committed=False)
        assert refusal(error) is ErrorCode.INVALID_TXN_STATE

    def test_the_owner_of_the_new_epoch_may_abort_what_never_began(self) -> None:
        for idle in (fresh(epoch=4), transitions.complete(end(ongoing(epoch=3), 3), NOW)):
            aborted = end(idle, 4, committed=False)
            assert aborted.state is TransactionState.PREPARE_ABORT
            assert aborted.producer == (7, 5)
            assert aborted.partitions == frozenset()
            assert aborted.start_ms == NOW + 5
            with pytest.raises(KafkaError) as error:
                end(idle, 4, committed=True)
            assert refusal(error) is ErrorCode.INVALID_TXN_STATE

    def test_a_fenced_producer_cannot_end(self) -> None:
        for epoch in (3, 5):
            with pytest.raises(KafkaError) as error:
                end(ongoing(epoch=4), epoch)
            assert refusal(error) is ErrorCode.PRODUCER_FENCED

    def test_the_coordinators_abort_fences_its_producer(self) -> None:
        aborted = transitions.abort(ongoing(epoch=4), -1, NOW)
        for state in (aborted, transitions.complete(aborted, NOW)):
            with pytest.raises(KafkaError):
                end(state, 4, committed=True)

    def test_used_up_epochs_lead_to_a_new_id(self) -> None:
        prepared = end(ongoing(epoch=32766), 32766, new_id=99)
        assert prepared.producer == (7, 32767)
        assert prepared.next_producer_id == 99
        completed = transitions.complete(prepared, NOW)
        assert completed.producer == (99, 0)
        assert completed.previous_producer_id == 7
        assert end(completed, 32766) is completed
        with pytest.raises(KafkaError) as error:
            end(completed, 12)
        assert refusal(error) is ErrorCode.INVALID_PRODUCER_ID_MAPPING


def test_only_open_transactions_time_out() -> None:
    metadata = ongoing()
    assert not transitions.has_timed_out(metadata, NOW + 60_000)
    assert transitions.has_timed_out(metadata, NOW + 60_001)
    assert not transitions.has_timed_out(end(metadata, 0), NOW + 10**9)


def test_only_idle_ids_expire() -> None:
    assert transitions.has_expired(fresh(), 1000, NOW + 1000)
    assert not transitions.has_expired(fresh(), 1000, NOW + 999)
    assert not transitions.has_expired(ongoing(), 1000, NOW + 10**9)
