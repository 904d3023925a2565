"""Fetch over the wire: every version, both byte limits, long polls, and the right errors."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from kio.schema.errors import ErrorCode
from tests.integration.raw_client import RawClient
from tests.integration.raw_requests import (
    FETCH_VERSIONS,
    TOPIC_ID_FETCH,
    Topic,
    create_topic,
    delete_topic,
    fetch,
    fetch_partition,
    fetch_topic,
    produce,
    produce_body,
)
from tests.integration.record_batches import batch_of, values_in

if TYPE_CHECKING:
    from tests.broker_process import BrokerProcess

LONG_MS = 600_000  # never reached: who loses a wake-up waits in vain for an answer


@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_every_version_reads_what_is_there(client: RawClient, created: Topic, version: int) -> None:
    produce(client, created, batch_of([b"a", b"b"]))
    produce(client, created, batch_of([b"c"]))

    answer = fetch(client, created, 0, version=version)

    assert answer.error_code is ErrorCode.none
    assert answer.high_watermark == 3
    assert answer.last_stable_offset == 3
    if version >= 5:
        assert answer.log_start_offset == 0
    assert values_in(answer.records) == [(0, b"a"), (1, b"b"), (2, b"c")]


@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_nothing_to_read_is_empty_and_not_null(
    client: RawClient, created: Topic, version: int
) -> None:
    answer = fetch(client, created, 0, version=version)

    assert answer.error_code is ErrorCode.none
    assert answer.records == b""
    assert not answer.aborted_transactions


@pytest.mark.parametrize("version", FETCH_VERSIONS)
@pytest.mark.parametrize("offset", [-1, 3, 1 << 40])
def test_offset_out_of_range(client: RawClient, created: Topic, version: int, offset: int) -> None:
    produce(client, created, batch_of([b"a", b"b"]))

    answer = fetch(client, created, offset, version=version)

    assert answer.error_code is ErrorCode.offset_out_of_range
    assert not answer.records
    assert answer.high_watermark == -1


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_a_fetch_in_the_middle_of_a_batch_returns_the_whole_batch(
    client: RawClient, created: Topic, codec: str
) -> None:
    produce(client, created, batch_of([b"a"]))
    produce(client, created, batch_of([b"b", b"c", b"d"], codec))

    answer = fetch(client, created, 2)

    assert values_in(answer.records) == [(1, b"b"), (2, b"c"), (3, b"d")]


def test_the_first_batch_comes_whole_however_small_the_limits(
    client: RawClient, created: Topic
) -> None:
    produce(client, created, batch_of([b"x" * 5000]))
    produce(client, created, batch_of([b"y" * 5000]))

    by_partition = fetch(client, created, 0, partition_max_bytes=1)
    by_request = fetch(client, created, 1, max_bytes=1)

    assert values_in(by_partition.records) == [(0, b"x" * 5000)]
    assert values_in(by_request.records) == [(1, b"y" * 5000)]


def test_partition_limit_holds_after_the_first_batch(client: RawClient, created: Topic) -> None:
    for _ in range(10):
        produce(client, created, batch_of([b"x" * 1000]))

    answer = fetch(client, created, 0, partition_max_bytes=3500)

    assert len(answer.records) <= 3500
    assert [offset for offset, _ in values_in(answer.records)] == [0, 1, 2]


def test_request_limit_holds_over_partitions(client: RawClient, topic: str) -> None:
    wide = create_topic(client, topic, partitions=4)
    for partition in range(4):
        produce(client, wide, batch_of([b"x" * 2000]), partition=partition)

    answer = client.call(
        "fetch",
        12,
        max_wait=0,
        min_bytes=1,
        max_bytes=4500,
        topics=[fetch_topic(wide, *(fetch_partition(index) for index in range(4)))],
    )

    partitions = answer.responses[0].partitions
    assert sorted(p.partition_index for p in partitions) == [0, 1, 2, 3]
    assert sum(len(p.records or b"") for p in partitions) <= 4500
    assert sum(1 for p in partitions if values_in(p.records)) == 2
    assert all(p.error_code is ErrorCode.none for p in partitions)


@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_unknown_topic(client: RawClient, topic: str, version: int) -> None:
    answer = fetch(client, Topic(topic, uuid.uuid4()), version=version)

    by_id = version >= TOPIC_ID_FETCH
    expected = ErrorCode.unknown_topic_id if by_id else ErrorCode.unknown_topic_or_partition
    assert answer.error_code is expected


@pytest.mark.parametrize("version", [4, 12, 18])
def test_unknown_partition(client: RawClient, created: Topic, version: int) -> None:
    answer = fetch(client, created, partition=1, version=version)

    assert answer.error_code is ErrorCode.unknown_topic_or_partition


def test_a_deleted_topic_s_id_is_not_its_successor_s(client: RawClient, topic: str) -> None:
    first = create_topic(client, topic)
    delete_topic(client, first)
    second = create_topic(client, topic)
    assert second.id != first.id

    assert fetch(client, first, version=18).error_code is ErrorCode.unknown_topic_id
    assert fetch(client, second, version=18).error_code is ErrorCode.none


@pytest.mark.parametrize("version", [9, 12, 18])
def test_leader_epoch_of_the_future_and_of_the_present(
    client: RawClient, created: Topic, version: int
) -> None:
    produce(client, created, batch_of([b"a"]))

    future = fetch(client, created, version=version, leader_epoch=1000)
    present = fetch(client, created, version=version, leader_epoch=0)

    assert future.error_code is ErrorCode.unknown_leader_epoch
    assert present.error_code is ErrorCode.none


def test_waits_no_longer_than_max_wait(client: RawClient, created: Topic) -> None:
    began = time.monotonic()
    answer = fetch(client, created, max_wait=300, min_bytes=1)

    assert answer.records == b""
    assert time.monotonic() - began >= 0.29


def test_min_bytes_0_never_waits(client: RawClient, created: Topic) -> None:
    began = time.monotonic()
    answer = fetch(client, created, max_wait=LONG_MS, min_bytes=0)

    assert answer.records == b""
    assert time.monotonic() - began < LONG_MS / 1000


def test_an_append_wakes_a_waiting_fetch(
    broker: BrokerProcess, client: RawClient, created: Topic
) -> None:
    with RawClient(broker) as consumer:
        began = time.monotonic()
        consumer.send("fetch", 12, **waiting(created, min_bytes=1))
        produce(client, created, batch_of([b"wake up"]))
        answer = consumer.receive()

    assert values_in(answer.responses[0].partitions[0].records) == [(0, b"wake up")]
    assert time.monotonic() - began < LONG_MS / 1000


def test_a_waiting_fetch_wakes_only_with_enough_bytes(
    broker: BrokerProcess, client: RawClient, created: Topic
) -> None:
    with RawClient(broker) as consumer:
        consumer.send("fetch", 12, **waiting(created, min_bytes=3000))
        for _ in range(3):
            produce(client, created, batch_of([b"x" * 1000]))
        answer = consumer.receive()

    records = answer.responses[0].partitions[0].records
    assert len(records) >= 3000
    assert [offset for offset, _ in values_in(records)] == [0, 1, 2]


def test_an_error_is_told_at_once_and_not_after_the_wait(client: RawClient, created: Topic) -> None:
    began = time.monotonic()
    answer = fetch(client, created, 99, max_wait=LONG_MS, min_bytes=1 << 20)

    assert answer.error_code is ErrorCode.offset_out_of_range
    assert time.monotonic() - began < LONG_MS / 1000


def test_deleting_the_topic_wakes_a_waiting_fetch(
    broker: BrokerProcess, client: RawClient, created: Topic
) -> None:
    with RawClient(broker) as consumer:
        began = time.monotonic()
        consumer.send("fetch", 12, **waiting(created, min_bytes=1))
        delete_topic(client, created)
        answer = consumer.receive()

    assert answer.responses[0].partitions[0].error_code is not ErrorCode.none
    assert time.monotonic() - began < LONG_MS / 1000


def test_many_fetches_wait_and_all_wake(
    broker: BrokerProcess, client: RawClient, created: Topic
) -> None:
    consumers = [RawClient(broker) for _ in range(50)]
    try:
        for consumer in consumers:
            consumer.send("fetch", 12, **waiting(created, min_bytes=1))
        produce(client, created, batch_of([b"all of you"]))
        for consumer in consumers:
            partition = consumer.receive().responses[0].partitions[0]
            assert values_in(partition.records) == [(0, b"all of you")]
    finally:
        for consumer in consumers:
            consumer.close()


def test_reading_behind_a_waiting_produce_and_before_it(client: RawClient, created: Topic) -> None:
    """Pipelined on one connection: the fetch sees the produce that was answered before it."""
    client.send("produce", 12, **produce_body(created, batch_of([b"first"])))
    client.send("fetch", 12, **waiting(created, min_bytes=1))

    assert client.receive().responses[0].partition_responses[0].base_offset == 0
    assert values_in(client.receive().responses[0].partitions[0].records) == [(0, b"first")]


def test_a_large_log_is_read_in_pieces_without_gaps(client: RawClient, topic: str) -> None:
    segmented = create_topic(client, topic, configs={"segment.bytes": "1048576"})
    sent = [b"%06d" % number + b"." * 2000 for number in range(2000)]
    for start in range(0, len(sent), 100):
        produce(client, segmented, batch_of(sent[start : start + 100]))

    read: list[tuple[int, bytes | None]] = []
    while len(read) < len(sent):
        offset = len(read)
        piece = values_in(fetch(client, segmented, offset, partition_max_bytes=300_000).records)
        assert piece, f"nothing came from {offset} on"
        read += [(at, value) for at, value in piece if at >= offset]

    assert read == list(enumerate(sent))


def waiting(topic: Topic, *, min_bytes: int, max_wait: int = LONG_MS) -> dict[str, Any]:
    return {
        "max_wait": max_wait,
        "min_bytes": min_bytes,
        "topics": [fetch_topic(topic, fetch_partition())],
    }
