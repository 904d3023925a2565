"""Idempotent producers over the raw protocol: duplicates, gaps, epochs, restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kio.schema.errors import ErrorCode
from tests.integration.raw_client import RawClient
from tests.integration.raw_requests import Topic, create_topic, fetch, list_offset
from tests.integration.raw_transactions import RawProducer
from tests.integration.record_batches import values_in
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.conftest import StartBroker

LATEST = -1


@pytest.fixture
def producer(client: RawClient) -> RawProducer:
    producer = RawProducer(client)
    producer.init()
    return producer


def stored(client: RawClient, topic: Topic) -> list[bytes | None]:
    return [value for _, value in values_in(fetch(client, topic).records)]


@pytest.mark.parametrize("version", range(6))
def test_every_version_gives_out_ids(client: RawClient, version: int) -> None:
    first, second = RawProducer(client), RawProducer(client)
    assert first.init(version).error_code is ErrorCode.none
    second.init(version)
    assert first.epoch == second.epoch == 0
    assert 0 <= first.producer_id != second.producer_id >= 0


def test_what_was_sent_again_is_dropped_and_what_is_new_is_taken(
    client: RawClient, producer: RawProducer, created: Topic
) -> None:
    for number in range(1, 7):
        answer = producer.send(created, b"M%d" % number)
        assert (answer.error_code, answer.base_offset) == (ErrorCode.none, number - 1)
    # The acknowledgements of M4 to M6 got lost, so the producer sends them again.
    for number in (4, 5, 6):
        answer = producer.send(created, b"M%d" % number, sequence=number - 1)
        assert (answer.error_code, answer.base_offset) == (ErrorCode.none, number - 1)
    assert producer.send(created, b"M7").base_offset == 6
    assert stored(client, created) == [b"M%d" % number for number in range(1, 8)]


def test_a_gap_is_refused(client: RawClient, producer: RawProducer, created: Topic) -> None:
    producer.send(created, b"a", b"b")
    answer = producer.send(created, b"d", sequence=3)
    assert answer.error_code is ErrorCode.out_of_order_sequence_number
    assert producer.send(created, b"c", sequence=2).base_offset == 2
    assert stored(client, created) == [b"a", b"b", b"c"]


def test_a_batch_older_than_five_is_not_known_any_more(
    producer: RawProducer, created: Topic
) -> None:
    for number in range(7):
        producer.send(created, b"%d" % number)
    assert producer.send(created, b"2", sequence=2).base_offset == 2
    answer = producer.send(created, b"1", sequence=1)
    assert answer.error_code is ErrorCode.out_of_order_sequence_number


def test_an_old_epoch_is_fenced(producer: RawProducer, created: Topic) -> None:
    producer.send(created, b"a", epoch=3)
    answer = producer.send(created, b"b", sequence=1, epoch=2)
    assert answer.error_code is ErrorCode.invalid_producer_epoch
    answer = producer.send(created, b"b", sequence=1, epoch=4)
    assert answer.error_code is ErrorCode.out_of_order_sequence_number
    assert producer.send(created, b"b", sequence=0, epoch=4).error_code is ErrorCode.none


def test_an_unknown_producer_may_begin_anywhere(producer: RawProducer, created: Topic) -> None:
    assert producer.send(created, b"a", sequence=17).base_offset == 0
    answer = producer.send(created, b"a", sequence=19)
    assert answer.error_code is ErrorCode.out_of_order_sequence_number


def test_sequences_wrap_around(producer: RawProducer, created: Topic) -> None:
    last = 2**31 - 1
    assert producer.send(created, b"a", b"b", sequence=last - 1).base_offset == 0
    assert producer.send(created, b"c", b"d", sequence=0).base_offset == 2
    assert producer.send(created, b"a", b"b", sequence=last - 1).base_offset == 0


def test_a_sequence_below_zero_is_no_sequence(producer: RawProducer, created: Topic) -> None:
    answer = producer.send(created, b"a", sequence=-2)
    assert answer.error_code is ErrorCode.invalid_record


def test_partitions_count_on_their_own(client: RawClient, topic: str) -> None:
    producer = RawProducer(client)
    producer.init()
    created = create_topic(client, topic, partitions=2)
    for partition in (0, 1, 1, 0):
        assert producer.send(created, b"x", partition=partition).error_code is ErrorCode.none


@pytest.mark.parametrize("dies", [False, True], ids=["stopped", "killed"])
@pytest.mark.parametrize("rolls", [False, True], ids=["one segment", "many segments"])
def test_all_requests_in_flight_are_known_after_a_restart(
    start_broker: StartBroker, topic: str, dies: bool, rolls: bool
) -> None:
    broker = start_broker()
    configs = {"segment.bytes": "1048576"} if rolls else {}
    padding = b"." * (400_000 if rolls else 1)
    with RawClient(broker) as client:
        created = create_topic(client, topic, configs=configs)
        producer = RawProducer(client)
        producer.init()
        for number in range(12):
            producer.send(created, b"%d" % number + padding)
    broker.kill() if dies else broker.stop()
    broker.start()
    with RawClient(broker) as client:
        producer.client = client
        for number in range(7, 12):
            answer = producer.send(created, b"%d" % number + padding, sequence=number)
            assert (answer.error_code, answer.base_offset) == (ErrorCode.none, number)
        assert producer.send(created, b"new").base_offset == 12
        assert list_offset(client, created, LATEST).offset == 13


def test_ids_never_come_twice_however_the_broker_ends(start_broker: StartBroker) -> None:
    broker = start_broker()
    seen: list[int] = []
    for end in (broker.kill, broker.stop, broker.kill):
        with RawClient(broker) as client:
            for _ in range(3):
                producer = RawProducer(client)
                producer.init()
                seen.append(producer.producer_id)
        end()
        broker.start()
    assert len(set(seen)) == len(seen)


def test_producers_that_are_silent_are_forgotten(start_broker: StartBroker, topic: str) -> None:
    broker = start_broker(
        {"producer.id.expiration.ms": "100", "producer.id.expiration.check.interval.ms": "50"}
    )
    with RawClient(broker) as client:
        created = create_topic(client, topic)
        producer = RawProducer(client)
        producer.init()
        producer.send(created, b"a")
        # A known producer may not leave a gap; a forgotten one may begin anywhere.
        wait_for(
            lambda: producer.send(created, b"z", sequence=9),
            until=lambda answer: answer.error_code is ErrorCode.none,
        )
