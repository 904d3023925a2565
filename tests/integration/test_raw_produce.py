"""Produce over the wire: every version, every codec, and the error for everything wrong."""

from __future__ import annotations

import struct
import uuid
from typing import TYPE_CHECKING

import google_crc32c
import pytest
from kio.schema.errors import ErrorCode
from tests.integration.raw_client import RawClient, request_frame
from tests.integration.raw_requests import (
    PRODUCE_VERSIONS,
    TOPIC_ID_PRODUCE,
    Topic,
    create_topic,
    fetch,
    produce,
    produce_body,
)
from tests.integration.record_batches import CODECS, Message, batch_of, records_in, values_in

if TYPE_CHECKING:
    from tests.broker_process import BrokerProcess

ZSTD_PRODUCE = 7  # from this version on a client may send zstd
CRC_AT, ATTRIBUTES_AT, COUNT_AT, MAGIC_AT = 17, 21, 57, 16

EVERYTHING = [
    Message(b"", key=None),
    Message(None, key=b"tombstone"),
    Message(b"v", key=b"", headers=(("h", b"1"), ("h", b"2"), ("null", None), ("empty", b""))),
    Message(b"x" * 50_000, key="clé".encode(), timestamp=0),
    Message(b"last", timestamp=1_700_000_000_123),
]


@pytest.mark.parametrize("version", PRODUCE_VERSIONS)
def test_every_version_appends_what_was_sent(
    client: RawClient, created: Topic, version: int
) -> None:
    first = produce(client, created, batch_of(EVERYTHING), version=version)
    second = produce(client, created, batch_of([b"more"]), version=version)

    assert first.error_code is ErrorCode.none
    assert first.base_offset == 0
    assert first.log_append_time is None
    assert second.base_offset == len(EVERYTHING)
    if version >= 5:
        assert second.log_start_offset == 0
    read = records_in(fetch(client, created).records)
    assert read == [*enumerate(EVERYTHING), (len(EVERYTHING), Message(b"more"))]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("version", [3, 7, 12, 13])
def test_every_codec(client: RawClient, created: Topic, version: int, codec: str) -> None:
    answer = produce(client, created, batch_of(EVERYTHING, codec), version=version)

    if codec == "zstd" and version < ZSTD_PRODUCE:
        assert answer.error_code is ErrorCode.unsupported_compression_type
        assert fetch(client, created).high_watermark == 0
        return
    assert answer.error_code is ErrorCode.none
    fetched = fetch(client, created).records
    assert records_in(fetched) == list(enumerate(EVERYTHING))
    assert struct.unpack_from(">h", fetched, ATTRIBUTES_AT)[0] & 7 == CODECS[codec]


@pytest.mark.parametrize("version", PRODUCE_VERSIONS)
def test_acks_0_gets_no_answer_but_is_appended(
    client: RawClient, created: Topic, version: int
) -> None:
    body = produce_body(created, batch_of([b"fire", b"forget"]), acks=0)
    client.send("produce", version, answered=False, **body)

    answer = produce(client, created, batch_of([b"asked"]))

    assert answer.base_offset == 2
    assert [v for _, v in values_in(fetch(client, created).records)] == [
        b"fire",
        b"forget",
        b"asked",
    ]


def test_acks_1_becomes_visible_by_itself(client: RawClient, created: Topic) -> None:
    assert produce(client, created, batch_of([b"soon"]), acks=1).base_offset == 0

    assert values_in(fetch(client, created, max_wait=20_000).records) == [(0, b"soon")]


def test_failing_acks_0_closes_the_connection(broker: BrokerProcess, created: Topic) -> None:
    with RawClient(broker) as other:
        body = produce_body(created, batch_of([b"x"]), partition=7, acks=0)
        other.send("produce", 12, answered=False, **body)

        assert other.is_closed_by_broker()


def test_acks_other_than_0_1_all_are_refused(client: RawClient, created: Topic) -> None:
    answer = produce(client, created, batch_of([b"x"]), acks=2)

    assert answer.error_code is ErrorCode.invalid_required_acks
    assert fetch(client, created).high_watermark == 0


@pytest.mark.parametrize("version", [0, 1, 2])
def test_versions_before_3_are_advertised_but_refused(
    broker: BrokerProcess, client: RawClient, created: Topic, version: int
) -> None:
    ranges = {api.api_key: api for api in client.call("api_versions", 2).api_keys}
    assert ranges[0].min_version == 0

    header = struct.pack(">hhih", 0, version, 9, 3) + b"raw"
    v3 = request_frame("produce", 3, 9, "raw", produce_body(created, batch_of([b"x"])))
    # Versions 0 to 2 are version 3 without the (null) transactional id at the body's start.
    old = header + v3[len(header) + 2 :]
    with RawClient(broker) as other:
        other.send_frame(old)
        assert other.is_closed_by_broker()
    assert fetch(client, created).high_watermark == 0


def test_several_topics_and_partitions_are_answered_one_by_one(
    client: RawClient, topic: str
) -> None:
    one = create_topic(client, f"{topic}-one", partitions=2)
    two = create_topic(client, f"{topic}-two")
    answer = client.call(
        "produce",
        12,
        acks=-1,
        timeout=30_000,
        topic_data=[
            {
                "name": one.name,
                "partition_data": [
                    {"index": 0, "records": batch_of([b"a"])},
                    {"index": 1, "records": batch_of([b"b", b"c"])},
                    {"index": 5, "records": batch_of([b"d"])},
                ],
            },
            {"name": two.name, "partition_data": [{"index": 0, "records": batch_of([b"e"])}]},
        ],
    )

    outcome = {
        (t.name, p.index): (p.error_code, p.base_offset)
        for t in answer.responses
        for p in t.partition_responses
    }
    assert outcome == {
        (one.name, 0): (ErrorCode.none, 0),
        (one.name, 1): (ErrorCode.none, 0),
        (one.name, 5): (ErrorCode.unknown_topic_or_partition, -1),
        (two.name, 0): (ErrorCode.none, 0),
    }
    assert fetch(client, one, partition=1).high_watermark == 2


def test_unknown_topic(client: RawClient, topic: str) -> None:
    nowhere = Topic(topic, uuid.uuid4())

    by_name = produce(client, nowhere, batch_of([b"x"]), version=12)
    by_id = produce(client, nowhere, batch_of([b"x"]), version=TOPIC_ID_PRODUCE)

    assert by_name.error_code is ErrorCode.unknown_topic_or_partition
    assert by_id.error_code is ErrorCode.unknown_topic_id


def test_flipped_bits_are_refused(client: RawClient, created: Topic) -> None:
    batch = bytearray(batch_of([b"precious"]))
    batch[-3] ^= 0x10

    answer = produce(client, created, bytes(batch))

    assert answer.error_code is ErrorCode.corrupt_message
    assert fetch(client, created).high_watermark == 0


def test_wrong_record_count_is_refused(client: RawClient, created: Topic) -> None:
    batch = bytearray(batch_of([b"a", b"b"]))
    struct.pack_into(">i", batch, COUNT_AT, 3)
    seal(batch)

    answer = produce(client, created, bytes(batch))

    assert answer.error_code is ErrorCode.invalid_record
    assert fetch(client, created).high_watermark == 0


@pytest.mark.parametrize("magic", [0, 1, 3])
def test_other_magics_are_refused(client: RawClient, created: Topic, magic: int) -> None:
    batch = bytearray(batch_of([b"a"]))
    batch[MAGIC_AT] = magic

    answer = produce(client, created, bytes(batch))

    assert answer.error_code in (ErrorCode.invalid_record, ErrorCode.corrupt_message)
    assert fetch(client, created).high_watermark == 0


def test_two_batches_in_one_partition_are_refused(client: RawClient, created: Topic) -> None:
    answer = produce(client, created, batch_of([b"a"]) + batch_of([b"b"]))

    assert answer.error_code is ErrorCode.invalid_record
    assert fetch(client, created).high_watermark == 0


def test_no_batch_at_all_is_refused(client: RawClient, created: Topic) -> None:
    answer = produce(client, created, b"")

    assert answer.error_code is ErrorCode.invalid_record
    assert fetch(client, created).high_watermark == 0


def test_null_instead_of_a_batch_is_refused(client: RawClient, created: Topic) -> None:
    """Apache Kafka never answers this one; its client would wait until its timeout."""
    answer = produce(client, created, None)

    assert answer.error_code is ErrorCode.invalid_record
    assert fetch(client, created).high_watermark == 0


def test_cut_off_batch_is_refused(client: RawClient, created: Topic) -> None:
    answer = produce(client, created, batch_of([b"a" * 100])[:-10])

    assert answer.error_code in (ErrorCode.invalid_record, ErrorCode.corrupt_message)
    assert fetch(client, created).high_watermark == 0


def test_batch_above_max_message_bytes(client: RawClient, topic: str) -> None:
    small = create_topic(client, topic, configs={"max.message.bytes": "1000"})

    exact = batch_of([b"x" * (1000 - len(batch_of([b""])) - 2)])
    assert len(exact) == 1000
    assert produce(client, small, exact).error_code is ErrorCode.none
    over = batch_of([b"x" * (1000 - len(batch_of([b""])) - 1)])
    assert produce(client, small, over).error_code is ErrorCode.message_too_large
    assert fetch(client, small).high_watermark == 1


def test_batch_that_fits_compressed_is_taken(client: RawClient, topic: str) -> None:
    small = create_topic(client, topic, configs={"max.message.bytes": "1000"})

    batch = batch_of([b"x" * 100_000], "zstd")

    assert produce(client, small, batch).error_code is ErrorCode.none
    assert values_in(fetch(client, small).records) == [(0, b"x" * 100_000)]


def test_log_append_time_is_told_and_stored(client: RawClient, topic: str) -> None:
    stamped = create_topic(client, topic, configs={"message.timestamp.type": "LogAppendTime"})

    answer = produce(client, stamped, batch_of([Message(b"a", timestamp=5), b"b"]))

    assert answer.log_append_time is not None
    stored = int(answer.log_append_time.timestamp() * 1000)
    assert stored > 1_700_000_000_000
    times = {m.timestamp for _, m in records_in(fetch(client, stamped).records)}
    assert times == {stored}


def test_timestamp_outside_the_allowed_window(client: RawClient, topic: str) -> None:
    strict = create_topic(
        client,
        topic,
        configs={
            "message.timestamp.before.max.ms": "1000",
            "message.timestamp.after.max.ms": "1000",
        },
    )

    for timestamp in (1, 99_999_999_999_999):
        answer = produce(client, strict, batch_of([Message(b"a", timestamp=timestamp)]))
        assert answer.error_code is ErrorCode.invalid_timestamp
    assert fetch(client, strict).high_watermark == 0


def test_compacted_topic_wants_keys(client: RawClient, topic: str) -> None:
    compacted = create_topic(client, topic, configs={"cleanup.policy": "compact"})

    keyless = produce(client, compacted, batch_of([Message(b"a", key=b"k"), b"b"]))

    assert keyless.error_code is ErrorCode.invalid_record
    assert produce(client, compacted, batch_of([Message(b"", key=b"")])).base_offset == 0


@pytest.mark.parametrize("stored", ["gzip", "snappy", "lz4", "zstd", "uncompressed"])
@pytest.mark.parametrize("sent", ["none", "gzip"])
def test_topic_with_a_codec_of_its_own(
    client: RawClient, topic: str, sent: str, stored: str
) -> None:
    recoding = create_topic(client, topic, configs={"compression.type": stored})

    assert produce(client, recoding, batch_of(EVERYTHING, sent)).error_code is ErrorCode.none

    fetched = fetch(client, recoding).records
    assert records_in(fetched) == list(enumerate(EVERYTHING))
    expected = CODECS["none" if stored == "uncompressed" else stored]
    assert struct.unpack_from(">h", fetched, ATTRIBUTES_AT)[0] & 7 == expected


def seal(batch: bytearray) -> None:
    """Make the checksum right again, so that only what the test broke is wrong."""
    struct.pack_into(">I", batch, CRC_AT, google_crc32c.value(bytes(batch[ATTRIBUTES_AT:])))
