"""ListOffsets over the wire: every version and every kind of timestamp."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kio.schema.errors import ErrorCode
from tests.integration.raw_client import RawClient
from tests.integration.raw_requests import (
    LIST_OFFSETS_VERSIONS,
    Topic,
    create_topic,
    list_offset,
    produce,
)
from tests.integration.record_batches import Message, batch_of

if TYPE_CHECKING:
    from tests.broker_process import BrokerProcess

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL = -1, -2, -3, -4
LATEST_TIERED, EARLIEST_PENDING_UPLOAD = -5, -6
SUPPORTED_FROM = {
    LATEST: 1,
    EARLIEST: 1,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}
BASE = 1_700_000_000_000


@pytest.fixture(scope="module")
def shared(broker: BrokerProcess) -> Topic:
    """Ten records in three batches, of which the third but last has the latest timestamp."""
    with RawClient(broker) as client:
        topic = create_topic(client, "list-offsets")
        for first, last in ((0, 3), (4, 6), (7, 9)):
            produce(client, topic, batch_of([at(offset) for offset in range(first, last + 1)]))
    return topic


def at(offset: int) -> Message:
    late = 10_000 if offset == 7 else 0
    return Message(b"x", timestamp=BASE + offset * 10 + late)


@pytest.mark.parametrize("version", LIST_OFFSETS_VERSIONS)
@pytest.mark.parametrize(
    ("timestamp", "expected"),
    [
        (LATEST, (-1, 10)),
        (EARLIEST, (-1, 0)),
        (MAX_TIMESTAMP, (BASE + 10_070, 7)),
        (EARLIEST_LOCAL, (-1, 0)),
        (LATEST_TIERED, (-1, -1)),
        (EARLIEST_PENDING_UPLOAD, (-1, -1)),
    ],
)
def test_named_offsets(
    client: RawClient, shared: Topic, version: int, timestamp: int, expected: tuple[int, int]
) -> None:
    answer = list_offset(client, shared, timestamp, version=version)

    if version < SUPPORTED_FROM[timestamp]:
        assert answer.error_code is ErrorCode.unsupported_version
        return
    assert answer.error_code is ErrorCode.none
    assert (answer.timestamp, answer.offset) == expected
    if version >= 4 and expected[1] >= 0:
        assert answer.leader_epoch == 0


@pytest.mark.parametrize("version", LIST_OFFSETS_VERSIONS)
@pytest.mark.parametrize(
    ("timestamp", "expected"),
    [
        (0, (BASE, 0)),
        (BASE, (BASE, 0)),
        (BASE + 1, (BASE + 10, 1)),
        (BASE + 30, (BASE + 30, 3)),
        (BASE + 31, (BASE + 40, 4)),
        (BASE + 61, (BASE + 10_070, 7)),
        (BASE + 80, (BASE + 10_070, 7)),
        (BASE + 10_070, (BASE + 10_070, 7)),
        (BASE + 10_071, (-1, -1)),
    ],
)
def test_by_time(
    client: RawClient, shared: Topic, version: int, timestamp: int, expected: tuple[int, int]
) -> None:
    answer = list_offset(client, shared, timestamp, version=version)

    assert answer.error_code is ErrorCode.none
    assert (answer.timestamp, answer.offset) == expected


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_by_time_inside_a_compressed_batch(client: RawClient, created: Topic, codec: str) -> None:
    produce(client, created, batch_of([at(offset) for offset in range(5)], codec))

    assert list_offset(client, created, BASE + 25).offset == 3


@pytest.mark.parametrize("version", LIST_OFFSETS_VERSIONS)
def test_an_empty_partition(client: RawClient, created: Topic, version: int) -> None:
    assert list_offset(client, created, LATEST, version=version).offset == 0
    assert list_offset(client, created, EARLIEST, version=version).offset == 0
    assert list_offset(client, created, BASE, version=version).offset == -1
    if version >= 7:
        assert list_offset(client, created, MAX_TIMESTAMP, version=version).offset == -1


@pytest.mark.parametrize("version", LIST_OFFSETS_VERSIONS)
def test_unknown_topic_and_partition(
    client: RawClient, created: Topic, topic: str, version: int
) -> None:
    elsewhere = Topic(topic + "-not", created.id)

    for answer in (
        list_offset(client, elsewhere, LATEST, version=version),
        list_offset(client, created, LATEST, version=version, partition=9),
    ):
        assert answer.error_code is ErrorCode.unknown_topic_or_partition
        assert answer.offset == -1


@pytest.mark.parametrize("version", [4, 7, 11])
def test_leader_epoch_of_the_future(client: RawClient, created: Topic, version: int) -> None:
    answer = list_offset(client, created, LATEST, version=version, leader_epoch=1000)

    assert answer.error_code is ErrorCode.unknown_leader_epoch


def test_after_deleting_records_the_log_starts_later(client: RawClient, created: Topic) -> None:
    produce(client, created, batch_of([at(offset) for offset in range(5)]))
    answer = client.call(
        "delete_records",
        2,
        topics=[
            {"name": created.name, "partitions": [{"partition_index": 0, "offset": 3}]},
        ],
        timeout=30_000,
    )
    assert answer.topics[0].partitions[0].low_watermark == 3

    assert list_offset(client, created, EARLIEST).offset == 3
    assert list_offset(client, created, EARLIEST_LOCAL).offset == 3
    assert list_offset(client, created, BASE).offset == 3
    assert list_offset(client, created, LATEST).offset == 5
