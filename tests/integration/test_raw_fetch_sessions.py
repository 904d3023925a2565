"""Incremental fetch sessions over the wire, as KIP-227 has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from kio.schema.errors import ErrorCode
from tests.integration.raw_client import RawClient
from tests.integration.raw_requests import (
    Topic,
    create_topic,
    delete_topic,
    fetch_partition,
    fetch_topic,
    produce,
)
from tests.integration.record_batches import batch_of, values_in
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.broker_process import BrokerProcess

BY_NAME, BY_ID = 12, 18
pytestmark = pytest.mark.parametrize("version", [7, BY_NAME, 13, BY_ID])


class Session:
    """A client's half of a fetch session."""

    def __init__(self, client: RawClient, version: int) -> None:
        self.client = client
        self.version = version
        self.id = 0
        self.epoch = 0

    def fetch(self, *topics: dict[str, object], forget: Sequence[object] = ()) -> Any:
        answer = self.client.call(
            "fetch",
            self.version,
            max_wait=0,
            min_bytes=0,
            session_id=self.id,
            session_epoch=self.epoch,
            topics=topics,
            forgotten_topics_data=forget,
        )
        if answer.error_code is ErrorCode.none:
            self.id = answer.session_id
            self.epoch += 1
        return answer


@pytest.fixture
def session(client: RawClient, version: int) -> Session:
    return Session(client, version)


@pytest.fixture
def wide(client: RawClient, topic: str) -> Topic:
    """Three partitions with a record each."""
    created = create_topic(client, topic, partitions=3)
    for partition in range(3):
        produce(client, created, batch_of([b"%d" % partition]), partition=partition)
    return created


@pytest.fixture
def other(broker: BrokerProcess) -> Iterator[RawClient]:
    with RawClient(broker) as connection:
        yield connection


def partitions_of(answer: Any) -> dict[int, Any]:
    return {p.partition_index: p for topic in answer.responses for p in topic.partitions}


def test_the_first_fetch_is_full_and_names_the_session(session: Session, wide: Topic) -> None:
    answer = session.fetch(fetch_topic(wide, *(fetch_partition(index) for index in range(3))))

    assert answer.error_code is ErrorCode.none
    assert answer.session_id > 0
    found = {index: values_in(p.records) for index, p in partitions_of(answer).items()}
    assert found == {0: [(0, b"0")], 1: [(0, b"1")], 2: [(0, b"2")]}


def test_then_only_what_changed_is_sent(session: Session, wide: Topic) -> None:
    session.fetch(fetch_topic(wide, *(fetch_partition(index, 1) for index in range(3))))

    nothing = session.fetch()
    produce(session.client, wide, batch_of([b"new"]), partition=1)
    changed = session.fetch()

    assert nothing.error_code is ErrorCode.none
    assert nothing.session_id == session.id
    assert partitions_of(nothing) == {}
    assert set(partitions_of(changed)) == {1}
    assert values_in(partitions_of(changed)[1].records) == [(1, b"new")]


def test_unmoved_partitions_with_data_are_sent_again(session: Session, wide: Topic) -> None:
    session.fetch(fetch_topic(wide, fetch_partition(0), fetch_partition(1, 1)))

    again = session.fetch()

    assert set(partitions_of(again)) == {0}


def test_a_partition_s_offset_moves_by_naming_it_again(session: Session, wide: Topic) -> None:
    session.fetch(fetch_topic(wide, fetch_partition(0), fetch_partition(1)))

    moved = session.fetch(fetch_topic(wide, fetch_partition(0, 1)))

    assert set(partitions_of(moved)) == {1}


def test_partitions_are_added(session: Session, wide: Topic) -> None:
    session.fetch(fetch_topic(wide, fetch_partition(0, 1)))

    added = session.fetch(fetch_topic(wide, fetch_partition(2)))

    assert set(partitions_of(added)) == {2}
    assert values_in(partitions_of(added)[2].records) == [(0, b"2")]


def test_partitions_are_forgotten(session: Session, wide: Topic) -> None:
    session.fetch(fetch_topic(wide, *(fetch_partition(index) for index in range(3))))

    left = session.fetch(forget=[{"topic": wide.name, "topic_id": wide.id, "partitions": [0, 2]}])

    assert set(partitions_of(left)) == {1}


def test_a_wrong_epoch_is_refused_and_the_session_goes_on(session: Session, wide: Topic) -> None:
    session.fetch(fetch_topic(wide, fetch_partition(0)))

    session.epoch += 1
    wrong = session.fetch()
    session.epoch -= 1
    right = session.fetch()

    assert wrong.error_code is ErrorCode.invalid_fetch_session_epoch
    assert wrong.responses == ()
    assert set(partitions_of(right)) == {0}


def test_an_unknown_session_is_refused(session: Session, wide: Topic) -> None:
    session.id, session.epoch = 123_456_789, 1

    answer = session.fetch(fetch_topic(wide, fetch_partition(0)))

    assert answer.error_code is ErrorCode.fetch_session_id_not_found
    assert answer.session_id == 0
    assert answer.responses == ()


def test_an_incremental_fetch_without_a_session_is_refused(session: Session, wide: Topic) -> None:
    session.epoch = 5

    answer = session.fetch(fetch_topic(wide, fetch_partition(0)))

    assert answer.error_code is ErrorCode.fetch_session_id_not_found


def test_epoch_minus_1_closes_the_session(session: Session, wide: Topic) -> None:
    session.fetch(fetch_topic(wide, fetch_partition(0)))
    closed_id = session.id

    session.epoch = -1
    last = session.fetch(fetch_topic(wide, fetch_partition(1)))
    session.id, session.epoch = closed_id, 1
    after = session.fetch()

    assert last.error_code is ErrorCode.none
    assert last.session_id == 0
    assert set(partitions_of(last)) == {1}
    assert after.error_code is ErrorCode.fetch_session_id_not_found


def test_epoch_0_with_an_id_replaces_the_session(session: Session, wide: Topic) -> None:
    session.fetch(fetch_topic(wide, fetch_partition(0)))
    old_id = session.id

    session.epoch = 0
    renewed = session.fetch(fetch_topic(wide, fetch_partition(1)))
    assert set(partitions_of(renewed)) == {1}
    assert renewed.session_id not in (0, old_id)

    session.id, session.epoch = old_id, 1
    assert session.fetch().error_code is ErrorCode.fetch_session_id_not_found


def test_errors_are_sent_until_they_are_gone(session: Session, wide: Topic) -> None:
    session.fetch(fetch_topic(wide, fetch_partition(0, 1), fetch_partition(1, 99)))

    again = session.fetch()

    assert {i: p.error_code for i, p in partitions_of(again).items()} == {
        1: ErrorCode.offset_out_of_range
    }


def test_a_deleted_topic_is_told_in_the_session(session: Session, wide: Topic) -> None:
    session.fetch(fetch_topic(wide, fetch_partition(0, 1)))
    delete_topic(session.client, wide)

    gone = wait_for(lambda: partitions_of(session.fetch()))  # Apache Kafka takes a moment

    assert gone[0].error_code in (
        ErrorCode.unknown_topic_or_partition,
        ErrorCode.unknown_topic_id,
        ErrorCode.not_leader_or_follower,
    )


def test_a_session_survives_its_connection(session: Session, other: RawClient, wide: Topic) -> None:
    session.fetch(fetch_topic(wide, fetch_partition(0)))
    session.client.close()

    session.client = other
    answer = session.fetch()

    assert answer.error_code is ErrorCode.none
    assert set(partitions_of(answer)) == {0}


def test_names_and_ids_do_not_mix_in_one_session(session: Session, wide: Topic) -> None:
    session.fetch(fetch_topic(wide, fetch_partition(0)))

    session.version = BY_NAME if session.version > BY_NAME else BY_ID
    answer = session.fetch(fetch_topic(wide, fetch_partition(1)))

    assert answer.error_code is ErrorCode.fetch_session_topic_id_error
