"""Committed offsets: what counts, what waits for a transaction, what expires, what is reloaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.broker.group_clients import GROUP, ClassicClient
from tests.unit.broker.group_world import START_MS, Answers, World, ask, topic_id

from headwater.broker.groups.classic.group import ClassicGroup
from headwater.broker.groups.environment import Producer
from headwater.broker.groups.loading import load_shard
from headwater.broker.groups.offsets.messages import (
    CommitRequest,
    FetchOffsetsRequest,
    OffsetToCommit,
)
from headwater.broker.groups.offsets.records import CommittedOffset, OffsetKey, offset_record
from headwater.broker.groups.offsets.store import OffsetStore
from headwater.broker.groups.record_fields import CoordinatorRecord
from headwater.broker.groups.settings import GroupSettings
from headwater.log.config import LogConfig
from headwater.log.log import AppendOrigin, Log
from headwater.log.records.end_txn_marker import EndTxnMarker, encode_marker
from headwater.log.records.record import Record, encode_batch
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from pathlib import Path

NONE = ErrorCode.NONE
DAY_MS = 86_400_000
ALICE, BOB = Producer(1, 0), Producer(2, 0)


@pytest.fixture
def world() -> World:
    return World()


def request(offset: int, partition: int = 0, **how: Any) -> CommitRequest:
    one = OffsetToCommit("a", topic_id("a"), partition, offset, 3, how.get("metadata", "m"))
    return CommitRequest(
        how.get("group", "g"),
        how.get("member", ""),
        None,
        how.get("generation", -1),
        how.get("retention_ms", -1),
        (one,),
        9,
    )


def commit(world: World, offset: int, partition: int = 0, **how: Any) -> Answers:
    return ask(world.offsets.commit, request(offset, partition, **how))


def in_transaction(world: World, producer: Producer, offset: int, partition: int = 0) -> Answers:
    answers = Answers()
    world.offsets.commit_in_transaction(request(offset, partition), producer, answers)
    return answers


def fetch(world: World, *, stable: bool = False, group: str = "g") -> dict[int, int | ErrorCode]:
    wanted = FetchOffsetsRequest(group, None, -1, {"a": (0, 1)}, stable)
    answers = ask(world.offsets.fetch, wanted)
    world.journal.store()
    ((_, partitions),) = answers.value.topics
    return {
        one.partition: one.error or (-1 if one.committed is None else one.committed.offset)
        for one in partitions
    }


# -- commits


def test_a_commit_is_answered_and_told_only_when_it_is_stored(world: World) -> None:
    done = commit(world, 5)
    wanted = FetchOffsetsRequest("g", None, -1, None, False)
    asked = ask(world.offsets.fetch, wanted)
    assert not done.is_given
    assert not asked.is_given
    world.journal.store()
    assert done.value.partitions == (NONE,)
    ((topic, (found,)),) = asked.value.topics
    assert (topic, found.committed.offset) == ("a", 5)


def test_a_commit_that_cannot_be_stored_never_was(world: World) -> None:
    world.journal.is_full = True
    done = commit(world, 5)
    world.journal.store()
    assert done.value.error is ErrorCode.NOT_COORDINATOR
    world.journal.is_full = False
    assert fetch(world) == {0: -1, 1: -1}
    assert "g" not in world.shard.groups


def test_metadata_that_is_too_long_is_refused_by_itself() -> None:
    world = World(GroupSettings(offset_metadata_max_bytes=3))
    done = commit(world, 5, metadata="long")
    assert done.value.partitions == (ErrorCode.OFFSET_METADATA_TOO_LARGE,)
    assert world.journal.records == []


def test_a_commit_keeps_a_member_alive(world: World) -> None:
    client = ClassicClient(world, "c", ["a"])
    while not client.is_settled:
        client.step()
        world.settle()
    for _ in range(5):
        world.wait(900)
        done = client.commit(("a", 0), 1)
        world.journal.store()
        assert done.value.partitions == (NONE,)
    assert client.member_id in world.shard.groups[GROUP].members


# -- transactions


def test_offsets_of_a_transaction_count_when_it_is_committed(world: World) -> None:
    commit(world, 1)
    done = in_transaction(world, ALICE, 5)
    world.journal.store()
    assert done.value.partitions == (NONE,)
    assert fetch(world) == {0: 1, 1: -1}
    assert fetch(world, stable=True) == {0: ErrorCode.UNSTABLE_OFFSET_COMMIT, 1: -1}
    world.shard.offsets.complete_txn(ALICE.producer_id, committed=True)
    assert fetch(world, stable=True) == {0: 5, 1: -1}


def test_offsets_of_an_aborted_transaction_never_count(world: World) -> None:
    commit(world, 1)
    in_transaction(world, ALICE, 5)
    world.shard.offsets.complete_txn(ALICE.producer_id, committed=False)
    assert fetch(world, stable=True) == {0: 1, 1: -1}


def test_transactions_of_several_producers_do_not_mix(world: World) -> None:
    in_transaction(world, ALICE, 5)
    in_transaction(world, BOB, 6)
    in_transaction(world, ALICE, 7, partition=1)
    world.shard.offsets.complete_txn(BOB.producer_id, committed=True)
    assert fetch(world) == {0: 6, 1: -1}
    assert fetch(world, stable=True)[0] is ErrorCode.UNSTABLE_OFFSET_COMMIT
    world.shard.offsets.complete_txn(ALICE.producer_id, committed=True)
    # Bob's lies further on in the log, so that Alice's is the older one.
    assert fetch(world, stable=True) == {0: 6, 1: 7}


def test_a_later_plain_commit_is_not_undone_by_a_transaction(world: World) -> None:
    in_transaction(world, ALICE, 5)
    commit(world, 9)
    world.shard.offsets.complete_txn(ALICE.producer_id, committed=True)
    assert fetch(world) == {0: 9, 1: -1}


def test_deleted_offsets_do_not_come_back_with_a_transaction(world: World) -> None:
    commit(world, 1)
    in_transaction(world, ALICE, 5)
    world.journal.store()
    deleted = Answers()
    world.offsets.delete("g", {"a": [0]}, deleted)
    world.journal.store()
    assert deleted.value.partitions == {("a", 0): NONE}
    world.shard.offsets.complete_txn(ALICE.producer_id, committed=True)
    assert fetch(world, stable=True) == {0: -1, 1: -1}


def test_the_end_of_an_unknown_transaction_is_no_trouble() -> None:
    OffsetStore().complete_txn(7, committed=True)


@pytest.mark.parametrize(
    ("generation", "member", "error"),
    [(-1, "", NONE), (3, "m", ErrorCode.ILLEGAL_GENERATION)],
)
def test_who_may_commit_in_a_transaction(
    world: World, generation: int, member: str, error: ErrorCode
) -> None:
    answers = Answers()
    wanted = request(5, generation=generation, member=member)
    world.offsets.commit_in_transaction(wanted, ALICE, answers)
    world.journal.store()
    assert answers.value.error is error


# -- expiry


def test_offsets_of_a_consumer_without_a_group_expire_after_the_last_commit() -> None:
    world = World(GroupSettings(offsets_retention_ms=7 * DAY_MS))
    commit(world, 5)
    world.wait(3 * DAY_MS)
    commit(world, 6, partition=1)
    world.wait(5 * DAY_MS)
    world.offsets.expire()
    assert fetch(world) == {0: -1, 1: 6}
    world.wait(3 * DAY_MS)
    world.offsets.expire()
    assert "g" not in world.shard.groups
    assert "g" not in world.reloaded().groups


def test_offsets_of_a_group_live_as_long_as_it_has_members() -> None:
    world = World(GroupSettings(min_session_timeout_ms=1, offsets_retention_ms=10_000))
    client = ClassicClient(world, "c", ["a"])
    while not client.is_settled:
        client.step()
        world.settle()
    client.commit(("a", 0), 5)
    client.commit(("b", 0), 6)
    for _ in range(30):
        client.step()
        world.wait(500)
    world.offsets.expire()
    # Nobody reads topic b any more.
    assert [*world.shard.offsets.of_group(GROUP)] == ["a"]
    client.leave()
    world.settle()
    world.wait(9_000)
    world.offsets.expire()
    assert world.shard.offsets.get(GROUP, "a", 0) is not None
    world.wait(2_000)
    world.offsets.expire()
    assert GROUP not in world.shard.groups


def test_offsets_with_an_end_of_their_own_expire_then(world: World) -> None:
    commit(world, 5, retention_ms=1_000)
    world.wait(999)
    world.offsets.expire()
    assert fetch(world)[0] == 5
    assert world.reloaded().offsets.get("g", "a", 0) is not None
    world.wait(1)
    world.offsets.expire()
    assert fetch(world)[0] == -1


def test_offsets_in_open_transactions_do_not_expire() -> None:
    world = World(GroupSettings(offsets_retention_ms=1_000))
    commit(world, 5)
    in_transaction(world, ALICE, 6)
    world.wait(2_000)
    world.offsets.expire()
    assert fetch(world)[0] == 5


def test_a_deleted_topic_takes_its_offsets_along(world: World) -> None:
    commit(world, 5)
    commit(world, 6, group="h")
    world.offsets.forget_topic("a")
    world.settle()
    assert fetch(world) == fetch(world, group="h") == {0: -1, 1: -1}
    assert list(world.reloaded().offsets.group_ids()) == []


# -- the log


class Written:
    """Writes to a real log as the journal does, and reads a shard back from it."""

    def __init__(self, directory: Path) -> None:
        self.log = Log.open(
            directory / "__consumer_offsets-0", LogConfig(), clean=True, now_ms=START_MS
        )
        self.world = World()

    def write(self, *records: CoordinatorRecord, producer: Producer | None = None) -> None:
        batch = encode_batch(
            [Record(n, START_MS, record.key, record.value) for n, record in enumerate(records)],
            producer_id=-1 if producer is None else producer.producer_id,
            producer_epoch=-1 if producer is None else producer.epoch,
            is_transactional=producer is not None,
        )
        self._append(batch)

    def end(self, producer: Producer, *, committed: bool) -> None:
        marker = EndTxnMarker(committed, 0)
        self._append(
            encode_marker(
                marker,
                producer_id=producer.producer_id,
                producer_epoch=producer.epoch,
                timestamp=START_MS,
            )
        )

    def offsets(self) -> OffsetStore:
        shard = self.world.new_shard()
        load_shard(shard, self.log, START_MS)
        assert all(isinstance(group, ClassicGroup) for group in shard.groups.values())
        return shard.offsets

    def _append(self, batch: bytearray) -> None:
        self.log.append(
            memoryview(batch), leader_epoch=0, now_ms=START_MS, origin=AppendOrigin.COORDINATOR
        )


def record(offset: int | None, partition: int = 0) -> CoordinatorRecord:
    committed = None if offset is None else CommittedOffset(offset)
    return offset_record(OffsetKey("g", "a", partition), committed)


def current(store: OffsetStore) -> dict[int, int]:
    return {number: one.offset for number, one in store.of_group("g").get("a", {}).items()}


def test_a_log_is_read_back(tmp_path: Path) -> None:
    written = Written(tmp_path)
    written.write(record(1), record(2, 1))
    written.write(record(3))
    written.write(record(None, 1))
    assert current(written.offsets()) == {0: 3}


def test_transactions_are_read_back(tmp_path: Path) -> None:
    written = Written(tmp_path)
    written.write(record(1), record(1, 1), record(1, 2), record(1, 3))
    written.write(record(5), producer=ALICE)
    written.write(record(6, 1), producer=BOB)
    written.end(ALICE, committed=True)
    written.end(BOB, committed=False)
    written.write(record(7, 2), producer=ALICE)
    written.write(record(8, 3), producer=BOB)
    written.write(record(9, 3))
    written.end(BOB, committed=True)
    store = written.offsets()
    assert current(store) == {0: 5, 1: 1, 2: 1, 3: 9}
    # Alice's second transaction is still open, and goes on.
    assert store.is_pending(OffsetKey("g", "a", 2))
    store.complete_txn(ALICE.producer_id, committed=True)
    assert current(store) == {0: 5, 1: 1, 2: 7, 3: 9}


def test_a_tombstone_takes_what_a_transaction_has_open_along(tmp_path: Path) -> None:
    written = Written(tmp_path)
    written.write(record(5), producer=ALICE)
    written.write(record(None))
    written.end(ALICE, committed=True)
    assert current(written.offsets()) == {}


def test_unknown_and_malformed_records_are_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    written = Written(tmp_path)
    written.write(
        CoordinatorRecord(b"\x00\x63key", b"of a later version"),
        CoordinatorRecord(b"\x00\x01\x00", b"cut off"),
        CoordinatorRecord(record(1, 1).key, b"\x00\x04cut"),
        record(3),
    )
    assert current(written.offsets()) == {0: 3}
    assert "is ignored" in caplog.text
