"""Fetch sessions: what opens, goes on, forgets and expires."""

from __future__ import annotations

import pytest

from headwater.broker.fetch.session import FetchKey, FetchSessionCache
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


def test_the_longest_unused_session_makes_room() -> None:
    sessions = FetchSessionCache(2)
    first = sessions.resolve(request(0, 0, (partition(0),)))
    second = sessions.resolve(request(0, 0, (partition(0),)))
    sessions.resolve(request(first.id, 1))
    sessions.resolve(request(0, 0, (partition(0),)))
    assert len(sessions) == 2
    with pytest.raises(KafkaError):
        sessions.resolve(request(second.id, 1))
    assert sessions.resolve(request(first.id, 2)) is first


def test_a_served_partition_goes_behind_the_others() -> None:
    sessions = FetchSessionCache(2)
    session = sessions.resolve(request(0, 0, (partition(0), partition(1), partition(2))))
    session.served(FetchKey("t", 0))
    assert [key.index for key in session.wanted] == [1, 2, 0]
