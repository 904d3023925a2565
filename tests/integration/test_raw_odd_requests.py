"""Requests that no good client sends, answered as Apache Kafka answers them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kio.schema.errors import ErrorCode
from tests.integration.raw_requests import (
    Topic,
    create_topic,
    fetch_partition,
    fetch_topic,
    list_offset,
    produce,
)
from tests.integration.raw_transactions import RawProducer
from tests.integration.record_batches import Message, batch_of

if TYPE_CHECKING:
    from tests.integration.raw_client import RawClient


def test_an_offset_asked_for_twice_is_refused_once(client: RawClient, created: Topic) -> None:
    asked = [{"partition_index": 0, "timestamp": when} for when in (-1, -2)]
    answer = client.call("list_offsets", 7, topics=[{"name": created.name, "partitions": asked}])

    (one,) = answer.topics[0].partitions
    assert one.error_code is ErrorCode.invalid_request


def test_the_latest_of_records_without_a_time_is_the_first(
    client: RawClient, created: Topic
) -> None:
    produce(client, created, batch_of([Message(b"a", timestamp=-1), Message(b"b", timestamp=-1)]))

    found = list_offset(client, created, -3)
    assert (found.offset, found.timestamp) == (0, -1)


def test_a_topic_named_and_identified_stays(client: RawClient, topic: str) -> None:
    mine = create_topic(client, topic)
    both = [{"name": mine.name}, {"name": None, "topic_id": mine.id}]
    answer = client.call("delete_topics", 6, topics=both, timeout=30_000)

    (refused,) = answer.responses
    assert (refused.name, refused.error_code) == (mine.name, ErrorCode.invalid_request)
    assert list_offset(client, mine, -1).error_code is ErrorCode.none


def test_reading_on_after_an_epoch_that_never_was(client: RawClient, created: Topic) -> None:
    produce(client, created, batch_of([b"a"]))
    beyond = fetch_partition(0, 1) | {"last_fetched_epoch": 5}
    answer = client.call("fetch", 12, max_wait=0, min_bytes=1, session_epoch=-1,
                         topics=[fetch_topic(created, beyond)])  # fmt: skip

    assert answer.responses[0].partitions[0].error_code is ErrorCode.offset_out_of_range


def test_an_unknown_partition_has_no_aborted_transactions(
    client: RawClient, created: Topic
) -> None:
    answer = client.call("fetch", 12, max_wait=0, min_bytes=1, session_epoch=-1,
                         isolation_level=1,
                         topics=[fetch_topic(created, fetch_partition(7))])  # fmt: skip

    assert answer.responses[0].partitions[0].aborted_transactions == ()


def test_a_batch_outside_the_producers_own_transaction(client: RawClient, created: Topic) -> None:
    producer = RawProducer(client, f"{created.name}-id")
    producer.init()
    producer.send(created, b"inside")
    loose = RawProducer(client)
    loose.producer_id, loose.epoch = producer.producer_id, producer.epoch

    assert loose.send(created, b"outside", sequence=1).error_code is ErrorCode.invalid_txn_state
    producer.end(committed=True)


def test_offsets_of_a_group_without_a_name(client: RawClient, created: Topic) -> None:
    producer = RawProducer(client, f"{created.name}-id")
    producer.init()
    place = {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}
    answer = producer.call("txn_offset_commit", 5, group_id="", generation_id=-1, member_id="",
                           topics=[{"name": created.name, "partitions": [place]}])  # fmt: skip

    assert answer.topics[0].partitions[0].error_code is ErrorCode.invalid_group_id


def test_records_to_blame_are_named(client: RawClient, topic: str) -> None:
    compacted = create_topic(client, topic, configs={"cleanup.policy": "compact"})
    batch = batch_of([Message(b"a", b"key"), Message(b"b"), Message(b"c")])
    answer = produce(client, compacted, batch)

    assert [error.batch_index for error in answer.record_errors] == [1, 2]
    assert answer.log_start_offset == 0
