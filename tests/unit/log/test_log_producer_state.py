"""Sequences, epochs and open transactions of one partition."""

from __future__ import annotations

import pytest

from headwater.log.errors import (
    InvalidProducerEpoch,
    InvalidTxnState,
    LogError,
    OutOfOrderSequence,
    TransactionCoordinatorFenced,
)
from headwater.log.indexes.txn_index import AbortedTxn
from headwater.log.producers.producer_state import ProducerStates
from headwater.log.records.batch import CONTROL_BIT, TRANSACTIONAL_BIT, BatchHeader
from headwater.log.records.end_txn_marker import EndTxnMarker, decode_marker, encode_marker
from headwater.log.records.record import decode_records

MAX_SEQUENCE = 2**31 - 1
NOW = 1_700_000_000_000
COMMITTED = EndTxnMarker(committed=True, coordinator_epoch=0)
ABORTED = EndTxnMarker(committed=False, coordinator_epoch=0)


def batch(
    sequence: int, *, count: int = 1, pid: int = 7, epoch: int = 0, offset: int = 0, bits: int = 0
) -> BatchHeader:
    return BatchHeader(
        base_offset=offset,
        batch_length=100,
        leader_epoch=0,
        magic=2,
        crc=0,
        attributes=bits,
        last_offset_delta=count - 1,
        base_timestamp=NOW,
        max_timestamp=NOW,
        producer_id=pid,
        producer_epoch=epoch,
        base_sequence=sequence,
        record_count=count,
    )


class Partition:
    """A log reduced to what producer states need of it: the next offset."""

    def __init__(self) -> None:
        self.states = ProducerStates("orders-0")
        self.end = 0
        self.stored: list[tuple[int, int]] = []

    def send(
        self, sequence: int, *, count: int = 1, pid: int = 7, epoch: int = 0, bits: int = 0
    ) -> int:
        """Append and return the base offset, of the original if this is a duplicate."""
        header = batch(sequence, count=count, pid=pid, epoch=epoch, offset=self.end, bits=bits)
        duplicate = self.states.check_client(header)
        if duplicate is not None:
            return duplicate.first_offset
        self.states.update(header, NOW)
        self.stored.append((pid, sequence))
        self.end += count
        return header.base_offset

    def send_in_transaction(
        self, sequence: int, *, count: int = 1, pid: int = 7, epoch: int = 0
    ) -> int:
        self.states.allow_transaction(pid, epoch, numbered_from_zero=False)
        return self.send(sequence, count=count, pid=pid, epoch=epoch, bits=TRANSACTIONAL_BIT)

    def end_transaction(
        self, marker: EndTxnMarker, *, pid: int = 7, epoch: int = 0
    ) -> AbortedTxn | None:
        header = batch(
            -1, pid=pid, epoch=epoch, offset=self.end, bits=TRANSACTIONAL_BIT | CONTROL_BIT
        )
        self.states.check_marker(header, marker)
        aborted = self.states.aborted_by(header, marker)
        self.states.update(header, NOW, marker)
        self.end += 1
        return aborted


def test_messages_sent_again_after_a_lost_acknowledgement_are_dropped() -> None:
    partition = Partition()
    assert [partition.send(n) for n in range(6)] == [0, 1, 2, 3, 4, 5]  # M1 to M6
    assert [partition.send(n) for n in range(3, 6)] == [3, 4, 5]  # M4 to M6 again
    assert partition.send(6) == 6  # M7
    assert partition.stored == [(7, n) for n in range(7)]


def test_only_the_last_five_batches_are_known_again() -> None:
    partition = Partition()
    for sequence in range(7):
        partition.send(sequence)
    assert partition.send(2) == 2
    with pytest.raises(OutOfOrderSequence, match="sequence 1 "):
        partition.send(1)


def test_a_duplicate_has_the_same_range_of_sequences() -> None:
    partition = Partition()
    partition.send(0, count=3)
    partition.send(3, count=2)
    assert partition.send(3, count=2) == 3
    with pytest.raises(OutOfOrderSequence):
        partition.send(3, count=1)
    with pytest.raises(OutOfOrderSequence):
        partition.send(0, count=5)


def test_a_gap_is_refused_and_the_missing_batch_still_fits() -> None:
    partition = Partition()
    partition.send(0)
    with pytest.raises(OutOfOrderSequence, match=r"sequence 2 .* but 0 is the last"):
        partition.send(2)
    assert partition.send(1) == 1
    assert partition.send(2) == 2


def test_sequences_wrap_around_inside_and_between_batches() -> None:
    partition = Partition()
    partition.send(MAX_SEQUENCE - 1, count=2)
    partition.send(0, count=2)
    assert partition.send(MAX_SEQUENCE - 1, count=2) == 0

    other = Partition()
    other.send(MAX_SEQUENCE, count=3)  # MAX, 0, 1
    assert other.send(2) == 3
    assert other.send(MAX_SEQUENCE, count=3) == 0


def test_a_producer_never_seen_may_begin_with_any_sequence() -> None:
    partition = Partition()
    assert partition.send(41) == 0
    with pytest.raises(OutOfOrderSequence):
        partition.send(43)


def test_a_new_epoch_begins_at_zero_and_fences_the_old_one() -> None:
    partition = Partition()
    partition.send(0, epoch=0)
    with pytest.raises(OutOfOrderSequence, match="must be 0"):
        partition.send(1, epoch=1)
    assert partition.send(0, epoch=1) == 1
    with pytest.raises(InvalidProducerEpoch, match="epoch 1 has taken its place"):
        partition.send(1, epoch=0)
    with pytest.raises(InvalidProducerEpoch):
        partition.send(0, epoch=0)


def test_producers_do_not_disturb_each_other() -> None:
    partition = Partition()
    for sequence in range(8):
        for pid in (1, 2, 3):
            partition.send(sequence, pid=pid)
    assert partition.send(7, pid=2) == 22


def test_silent_producers_are_forgotten_but_not_in_a_transaction() -> None:
    partition = Partition()
    partition.send(0, pid=1)
    partition.send_in_transaction(0, pid=2)
    assert partition.states.expire(NOW + 999, 1000) == 0
    assert partition.states.expire(NOW + 1000, 1000) == 1
    assert [entry.producer_id for entry in partition.states.entries] == [2]
    assert partition.send(5, pid=1) == 2


def test_a_transactional_batch_needs_a_transaction() -> None:
    partition = Partition()
    with pytest.raises(InvalidTxnState, match="not part of an open transaction"):
        partition.send(0, bits=TRANSACTIONAL_BIT)
    partition.states.allow_transaction(7, 0, numbered_from_zero=False)
    partition.send(0, bits=TRANSACTIONAL_BIT)
    partition.send(1, bits=TRANSACTIONAL_BIT)
    with pytest.raises(InvalidTxnState, match="the batch is not transactional"):
        partition.send(2)
    partition.end_transaction(COMMITTED)
    with pytest.raises(InvalidTxnState, match="not part of an open transaction"):
        partition.send(2, bits=TRANSACTIONAL_BIT)


def test_the_permission_is_for_one_epoch() -> None:
    partition = Partition()
    partition.states.allow_transaction(7, 0, numbered_from_zero=False)
    with pytest.raises(InvalidTxnState):
        partition.send(0, epoch=1, bits=TRANSACTIONAL_BIT)


def test_transaction_version_2_begins_at_zero_even_if_unknown() -> None:
    partition = Partition()
    partition.states.allow_transaction(7, 3, numbered_from_zero=True)
    with pytest.raises(OutOfOrderSequence):
        partition.send(1, epoch=3, bits=TRANSACTIONAL_BIT)
    assert partition.send(0, epoch=3, bits=TRANSACTIONAL_BIT) == 0


def test_a_marker_of_the_next_epoch_fences_late_batches() -> None:
    partition = Partition()
    partition.send_in_transaction(0, epoch=0)
    partition.end_transaction(COMMITTED, epoch=1)
    with pytest.raises(InvalidProducerEpoch):
        partition.send_in_transaction(1, epoch=0)
    assert partition.send_in_transaction(0, epoch=1) == 2


def test_old_markers_are_refused() -> None:
    partition = Partition()
    partition.send_in_transaction(0, epoch=2)
    with pytest.raises(InvalidProducerEpoch):
        partition.end_transaction(ABORTED, epoch=1)
    partition.end_transaction(EndTxnMarker(committed=True, coordinator_epoch=5), epoch=2)
    with pytest.raises(TransactionCoordinatorFenced, match="epoch 4"):
        partition.end_transaction(EndTxnMarker(committed=True, coordinator_epoch=4), epoch=2)


def test_what_a_coordinator_writes_needs_no_sequence_but_the_epoch() -> None:
    states = ProducerStates("__consumer_offsets-3")
    for offset in range(2):
        header = batch(-1, epoch=4, offset=offset, bits=TRANSACTIONAL_BIT)
        states.check_epoch(header)
        states.update(header, NOW)
    with pytest.raises(InvalidProducerEpoch):
        states.check_epoch(batch(-1, epoch=3, bits=TRANSACTIONAL_BIT))
    assert states.has_transaction(7, 4)


def test_the_oldest_open_transaction_bounds_what_is_stable() -> None:
    partition = Partition()
    states = partition.states
    assert states.first_unstable_offset(0) is None
    partition.send(0, pid=9)
    partition.send_in_transaction(0, pid=1, count=2)  # offsets 1, 2
    partition.send_in_transaction(0, pid=2)  # 3
    assert states.first_unstable_offset(partition.end) == 1

    aborted = partition.end_transaction(ABORTED, pid=2)  # 4
    assert aborted == AbortedTxn(2, 3, 4, 1)
    assert states.first_unstable_offset(partition.end) == 1

    assert partition.end_transaction(COMMITTED, pid=1) is None  # 5
    # Nobody may read past the transaction before its marker is readable itself.
    assert states.first_unstable_offset(5) == 1
    assert states.first_unstable_offset(6) is None


def test_a_decided_transaction_stays_unstable_until_its_marker_is_readable() -> None:
    partition = Partition()
    partition.send_in_transaction(0, pid=1)  # 0
    partition.send_in_transaction(0, pid=2)  # 1
    partition.end_transaction(COMMITTED, pid=2)  # 2
    partition.end_transaction(COMMITTED, pid=1)  # 3
    assert partition.states.first_unstable_offset(2) == 0
    assert partition.states.first_unstable_offset(3) == 0
    assert partition.states.first_unstable_offset(4) is None


def test_a_marker_without_records_aborts_nothing() -> None:
    partition = Partition()
    assert partition.end_transaction(ABORTED, epoch=3) is None
    entry = partition.states.get(7)
    assert entry is not None
    assert entry.epoch == 3
    assert partition.states.first_unstable_offset(0) is None


def test_an_emptied_control_batch_changes_nothing() -> None:
    partition = Partition()
    partition.send_in_transaction(0)
    header = batch(-1, offset=1, bits=TRANSACTIONAL_BIT | CONTROL_BIT)
    partition.states.update(header, NOW, None)
    assert partition.states.first_unstable_offset(2) == 0


@pytest.mark.parametrize("committed", [True, False])
def test_markers_survive_their_encoding(committed: bool) -> None:
    marker = EndTxnMarker(committed, 3)
    encoded = encode_marker(marker, producer_id=9, producer_epoch=2, timestamp=NOW)
    assert decode_marker(encoded) == marker
    (record,) = decode_records(encoded)
    assert record.key == b"\0\0\0" + bytes([committed])
    assert record.value == b"\0\0\0\0\0\x03"


def test_errors_are_errors_of_the_log() -> None:
    assert issubclass(TransactionCoordinatorFenced, LogError)
