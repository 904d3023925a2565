"""Fetch sessions: what opens, goes on, forgets and expires."""

from __future__ import annotations

import sys

import pytest

from headwater.broker.fetch.session import KEPT_FOR_S, FetchKey, FetchSession, FetchSessionCache
from headwater.broker.topics.topic_names import MAX_NAME_LENGTH
from headwater.protocol.errors import ErrorCode, KafkaError
from headwater.protocol.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic


def partition(index: int, offset: int = 0) -> FetchPartition:
    return FetchPartition(index, -1, offset, -1, -1, 1 << 20)


def request(
    session_id: int = 0,
    epoch: int = -1,
    partitions: tuple[FetchPartition, ...] = (),
    forgotten: tuple[int, ...] = (),
    topic_id: bytes | None = None,
) -> FetchRequest:
    name = "t" if topic_id is None else None
    topics = [FetchTopic(name, topic_id, list(partitions))] if partitions else []
    gone = [ForgottenTopic(name, topic_id, list(forgotten))] if forgotten else []
    return FetchRequest(500, 1, 1 << 20, 0, session_id, epoch, topics, gone, "")


def test_a_final_epoch_needs_no_session() -> None:
    sessions = FetchSessionCache(10)
    session = sessions.resolve(request(0, -1, (partition(0), partition(1))))
    assert session.id == 0
    assert [key.index for key in session.wanted] == [0, 1]
    assert len(sessions) == 0


def test_a_session_is_opened_and_goes_on_with_changes_only() -> None:
    sessions = FetchSessionCache(10)
    opened = sessions.resolve(request(0, 0, (partition(0), partition(1))))
    assert opened.id > 0
    assert not opened.is_incremental
    went_on = sessions.resolve(request(opened.id, 1, (partition(1, 7),)))
    assert went_on is opened
    assert went_on.is_incremental
    offsets = [wanted.partition.fetch_offset for wanted in went_on.wanted.values()]
    assert offsets == [0, 7]
    added = sessions.resolve(request(opened.id, 2, (partition(5),), forgotten=(0,)))
    assert [key.index for key in added.wanted] == [1, 5]


def test_an_unknown_session_and_a_wrong_epoch_get_kafkas_errors() -> None:
    sessions = FetchSessionCache(10)
    with pytest.raises(KafkaError) as unknown:
        sessions.resolve(request(99, 1))
    assert unknown.value.code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    opened = sessions.resolve(request(0, 0, (partition(0),)))
    with pytest.raises(KafkaError) as wrong:
        sessions.resolve(request(opened.id, 3))
    assert wrong.value.code == ErrorCode.INVALID_FETCH_SESSION_EPOCH


def test_a_session_does_not_change_between_names_and_ids() -> None:
    sessions = FetchSessionCache(10)
    opened = sessions.resolve(request(0, 0, (partition(0),)))
    with pytest.raises(KafkaError) as mixed:
        sessions.resolve(request(opened.id, 1, (partition(1),), topic_id=bytes(16)))
    assert mixed.value.code == ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR


def test_opening_anew_or_ending_drops_the_old_session() -> None:
    sessions = FetchSessionCache(10)
    opened = sessions.resolve(request(0, 0, (partition(0),)))
    again = sessions.resolve(request(opened.id, 0, (partition(0),)))
    assert again.id != opened.id
    assert len(sessions) == 1
    sessions.resolve(request(again.id, -1, (partition(0),)))
    assert len(sessions) == 0


class Clock:
    """A time that passes when a test says so."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float = KEPT_FOR_S + 1) -> None:
        self.now += seconds


def cache(slots: int = 10, most_partitions: int = 10) -> tuple[FetchSessionCache, Clock]:
    clock = Clock()
    return FetchSessionCache(slots, most_partitions, clock), clock


def of(count: int, start: int = 0) -> tuple[FetchPartition, ...]:
    return tuple(partition(index) for index in range(start, start + count))


def is_gone(sessions: FetchSessionCache, session: FetchSession) -> bool:
    try:
        sessions.resolve(request(session.id, session.epoch))
    except KafkaError as error:
        return error.code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    return False


def test_the_longest_unused_session_makes_room() -> None:
    sessions, clock = cache(slots=2)
    first = sessions.resolve(request(0, 0, of(1)))
    second = sessions.resolve(request(0, 0, of(1)))
    clock.wait()
    sessions.resolve(request(first.id, 1))
    third = sessions.resolve(request(0, 0, of(1)))
    assert third.id
    assert len(sessions) == 2
    assert is_gone(sessions, second)
    assert sessions.resolve(request(first.id, 2)) is first
    assert sessions.evictions == 1


def test_new_sessions_keep_their_places() -> None:
    sessions, clock = cache(slots=2)
    kept = [sessions.resolve(request(0, 0, of(1))) for _ in range(2)]
    clock.wait(KEPT_FOR_S - 1)
    late = sessions.resolve(request(0, 0, of(5)))
    assert late.id == 0
    assert len(late.wanted) == 5
    assert not any(is_gone(sessions, session) for session in kept)


def test_a_session_in_use_leaves_its_place_to_one_that_is_no_smaller() -> None:
    sessions, clock = cache(slots=2)
    large = sessions.resolve(request(0, 0, of(4)))
    small = sessions.resolve(request(0, 0, of(2)))
    clock.wait()
    assert not is_gone(sessions, small)
    assert not is_gone(sessions, large)
    assert sessions.resolve(request(0, 0, of(1))).id == 0
    assert sessions.resolve(request(0, 0, of(2))).id > 0
    assert is_gone(sessions, small)
    assert not is_gone(sessions, large)
    assert sessions.partition_count == 6


def test_without_slots_there_are_no_sessions() -> None:
    sessions, clock = cache(slots=0)
    clock.wait()
    assert sessions.resolve(request(0, 0, of(1))).id == 0


def test_all_sessions_together_have_at_most_so_many_partitions() -> None:
    sessions, _ = cache()
    kept = sessions.resolve(request(0, 0, of(6)))
    late = sessions.resolve(request(0, 0, of(5)))
    assert late.id == 0
    assert len(late.wanted) == 5
    assert sessions.partition_count == 6
    assert sessions.resolve(request(0, 0, of(4))).id > 0
    assert sessions.partition_count == 10
    assert not is_gone(sessions, kept)
    assert sessions.evictions == 0


def test_a_session_that_could_never_fit_evicts_nobody() -> None:
    sessions, clock = cache()
    kept = sessions.resolve(request(0, 0, of(6)))
    clock.wait()
    assert sessions.resolve(request(0, 0, of(11))).id == 0
    assert not is_gone(sessions, kept)


def test_unused_sessions_make_room_for_partitions_the_longest_unused_first() -> None:
    sessions, clock = cache()
    old, unused, used = (sessions.resolve(request(0, 0, of(3))) for _ in range(3))
    clock.wait()
    sessions.resolve(request(used.id, 1))
    assert sessions.resolve(request(0, 0, of(4))).id > 0
    assert is_gone(sessions, old)
    assert sessions.partition_count == 10
    assert sessions.resolve(request(0, 0, of(4))).id == 0
    assert not is_gone(sessions, unused)
    assert not is_gone(sessions, used)
    assert sessions.evictions == 1


def test_a_growing_session_has_others_make_room() -> None:
    sessions, clock = cache()
    unused = sessions.resolve(request(0, 0, of(5)))
    grows = sessions.resolve(request(0, 0, of(5)))
    clock.wait()
    assert sessions.resolve(request(grows.id, 1, of(2, start=5))).id > 0
    assert is_gone(sessions, unused)
    assert (len(sessions), sessions.partition_count) == (1, 7)


def test_a_session_that_grows_too_large_is_closed_and_its_request_served() -> None:
    sessions, _ = cache()
    other = sessions.resolve(request(0, 0, of(5)))
    grows = sessions.resolve(request(0, 0, of(5)))
    its_id = grows.id
    served = sessions.resolve(request(its_id, 1, of(1, start=5)))
    assert served.id == 0
    assert len(served.wanted) == 6
    with pytest.raises(KafkaError) as gone:
        sessions.resolve(request(its_id, 2))
    assert gone.value.code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert not is_gone(sessions, other)
    assert sessions.partition_count == 5


def test_forgotten_and_closed_partitions_no_longer_count() -> None:
    sessions, _ = cache()
    session = sessions.resolve(request(0, 0, (*of(8), *of(8))))
    assert sessions.partition_count == 8
    sessions.resolve(request(session.id, 1, of(2, start=7), forgotten=(0, 1, 2, 99)))
    assert sessions.partition_count == len(session.wanted) == 6
    again = sessions.resolve(request(session.id, 0, of(4)))
    assert sessions.partition_count == 4
    assert sessions.give_up(again) == 0
    assert sessions.partition_count == 0
    last = sessions.resolve(request(0, 0, of(10)))
    assert last.id > 0
    sessions.resolve(request(last.id, -1, of(1)))
    assert (len(sessions), sessions.partition_count) == (0, 0)


def test_a_session_gives_back_the_memory_of_what_it_forgets() -> None:
    sessions = FetchSessionCache(10)
    session = sessions.resolve(request(0, 0, of(50_000)))
    large = sys.getsizeof(session.wanted)
    sessions.resolve(request(session.id, 1, forgotten=tuple(range(49_990))))
    assert [key.index for key in session.wanted] == list(range(49_990, 50_000))
    assert sys.getsizeof(session.wanted) < large // 1_000


@pytest.mark.parametrize("name", ["x" * (MAX_NAME_LENGTH + 1), "\N{SNOWMAN}"])
def test_no_session_keeps_names_that_no_topic_can_have(name: str) -> None:
    sessions, _ = cache()
    named = [FetchTopic(name, None, list(of(1)))]
    assert sessions.resolve(request(0, 0)._replace(topics=named)).id == 0
    session = sessions.resolve(request(0, 0, of(1)))
    swapped = request(session.id, 1, forgotten=(0,))._replace(topics=named)
    assert sessions.resolve(swapped).id == 0
    assert (len(sessions), sessions.partition_count) == (0, 0)


def test_a_served_partition_goes_behind_the_others() -> None:
    sessions = FetchSessionCache(2)
    session = sessions.resolve(request(0, 0, (partition(0), partition(1), partition(2))))
    session.served(FetchKey("t", 0))
    assert [key.index for key in session.wanted] == [1, 2, 0]
