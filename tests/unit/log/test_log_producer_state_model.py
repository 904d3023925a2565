"""Producer states against a plain dictionary, under any mix of sends, repeats and restarts."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.effort import often

from headwater.log.errors import InvalidProducerEpoch, OutOfOrderSequence
from headwater.log.producers.producer_snapshot import decode_snapshot, encode_snapshot
from headwater.log.producers.producer_state import ProducerStates
from headwater.log.records.batch import CONTROL_BIT, TRANSACTIONAL_BIT, BatchHeader
from headwater.log.records.end_txn_marker import EndTxnMarker

MAX_SEQUENCE = 2**31 - 1
NOW = 1_700_000_000_000

pids = st.integers(0, 3)
counts = st.integers(1, 4)


class Model:
    """What one producer did, without any bound."""

    def __init__(self, start: int) -> None:
        self.epoch = 0
        self.next = start
        self.sent: list[tuple[int, int, int]] = []  # sequence, count, offset; of this epoch
        self.txn_first = -1


class ProducerStatesMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.states = ProducerStates("model-0")
        self.producers: dict[int, Model] = {}
        self.end = 0

    def header(
        self, pid: int, epoch: int, sequence: int, count: int, *, bits: int = 0
    ) -> BatchHeader:
        return BatchHeader(
            self.end, 100, 0, 2, 0, bits, count - 1, NOW, NOW, pid, epoch, sequence, count
        )

    @rule(pid=pids, count=counts, start=st.sampled_from([0, 5, MAX_SEQUENCE - 2, MAX_SEQUENCE]))
    def send_next(self, pid: int, count: int, start: int) -> None:
        model = self.producers.setdefault(pid, Model(start))
        bits = TRANSACTIONAL_BIT if model.txn_first >= 0 else 0
        header = self.header(pid, model.epoch, model.next, count, bits=bits)
        assert self.states.check_client(header) is None
        self.states.update(header, NOW)
        model.sent.append((model.next, count, self.end))
        model.next = (model.next + count) & MAX_SEQUENCE
        self.end += count

    @rule(pid=pids, count=counts)
    def begin_transaction(self, pid: int, count: int) -> None:
        model = self.producers.setdefault(pid, Model(0))
        if model.txn_first >= 0:
            return
        self.states.allow_transaction(pid, model.epoch, numbered_from_zero=False)
        model.txn_first = self.end
        self.send_next(pid, count, 0)

    @rule(pid=pids, committed=st.booleans(), bump=st.booleans())
    def end_transaction(self, pid: int, committed: bool, bump: bool) -> None:
        model = self.producers.get(pid)
        if model is None or model.txn_first < 0:
            return
        epoch = model.epoch + bump
        bits = TRANSACTIONAL_BIT | CONTROL_BIT
        header = self.header(pid, epoch, -1, 1, bits=bits)
        marker = EndTxnMarker(committed, 0)
        others = [m.txn_first for m in self.producers.values() if m.txn_first >= 0 and m != model]
        aborted = self.states.aborted_by(header, marker)
        if committed:
            assert aborted is None
        else:
            stable = min(others, default=self.end + 1)
            assert aborted == (pid, model.txn_first, self.end, stable)
        self.states.update(header, NOW, marker)
        self.end += 1
        model.txn_first = -1
        if bump:
            model.epoch, model.next, model.sent = epoch, 0, []

    @rule(pid=pids, back=st.integers(1, 8))
    def send_again(self, pid: int, back: int) -> None:
        model = self.producers.get(pid)
        if model is None or back > len(model.sent):
            return
        sequence, count, offset = model.sent[-back]
        bits = TRANSACTIONAL_BIT if model.txn_first >= 0 else 0
        header = self.header(pid, model.epoch, sequence, count, bits=bits)
        if back <= 5:
            duplicate = self.states.check_client(header)
            assert duplicate is not None
            assert duplicate.first_offset == offset
            assert duplicate.last_offset == offset + count - 1
        else:
            with pytest.raises(OutOfOrderSequence):
                self.states.check_client(header)

    @rule(pid=pids, gap=st.integers(1, 1000))
    def leave_a_gap(self, pid: int, gap: int) -> None:
        model = self.producers.get(pid)
        if model is None:
            return
        bits = TRANSACTIONAL_BIT if model.txn_first >= 0 else 0
        sequence = (model.next + gap) & MAX_SEQUENCE
        with pytest.raises(OutOfOrderSequence):
            self.states.check_client(self.header(pid, model.epoch, sequence, 1, bits=bits))

    @rule(pid=pids)
    def send_with_an_old_epoch(self, pid: int) -> None:
        model = self.producers.get(pid)
        if model is None or model.epoch == 0:
            return
        with pytest.raises(InvalidProducerEpoch):
            self.states.check_client(self.header(pid, model.epoch - 1, 0, 1))

    @rule(pid=pids, count=counts)
    def begin_an_epoch(self, pid: int, count: int) -> None:
        model = self.producers.get(pid)
        if model is None or model.txn_first >= 0:
            return
        model.epoch, model.next, model.sent = model.epoch + 1, 0, []
        self.send_next(pid, count, 0)

    @precondition(lambda self: self.producers)
    @rule()
    def restart(self) -> None:
        content = encode_snapshot(self.states.entries)
        self.states = ProducerStates("model-0")
        self.states.restore(decode_snapshot(content))

    @rule()
    def expire_nothing(self) -> None:
        assert self.states.expire(NOW + 999, 1000) == 0

    @invariant()
    def the_first_unstable_offset_is_that_of_the_oldest_transaction(self) -> None:
        open_at = [m.txn_first for m in self.producers.values() if m.txn_first >= 0]
        assert self.states.first_unstable_offset(self.end) == min(open_at, default=None)


TestProducerStates = ProducerStatesMachine.TestCase
TestProducerStates.settings = settings(
    max_examples=often(40, in_soak=500), stateful_step_count=50, deadline=None
)
