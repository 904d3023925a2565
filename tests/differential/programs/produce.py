"""Producing: batches good and bad, acknowledgements, timestamps, sizes, codecs."""

from __future__ import annotations

import struct
import time
import uuid
from typing import TYPE_CHECKING, Any

from google_crc32c import value as crc32c
from tests.differential.engine import WITHIN_S, wait_for
from tests.differential.observation import failure, picked, plain, records, values
from tests.differential.program import program
from tests.differential.programs.fetch import is_gone
from tests.integration.raw_client import ConnectionClosedError
from tests.integration.raw_requests import (
    PRODUCE_VERSIONS,
    Topic,
    create_topic,
    delete_topic,
    fetch,
    list_offset,
    produce,
    produce_body,
)
from tests.integration.record_batches import CODECS, Message, batch_of

if TYPE_CHECKING:
    from tests.differential.engine import Engine
    from tests.integration.raw_client import RawClient

WHEN = 1_700_000_000_000
ATTRIBUTES, LAST_OFFSET_DELTA, MAX_TIMESTAMP, COUNT = 21, 23, 35, 57


def sealed(batch: bytes | bytearray) -> bytes:
    """The batch with the checksum that belongs to it."""
    whole = bytearray(batch)
    struct.pack_into(">I", whole, 17, crc32c(bytes(whole[21:])))
    return bytes(whole)


def changed(batch: bytes, position: int, layout: str, value: int) -> bytes:
    whole = bytearray(batch)
    struct.pack_into(layout, whole, position, value)
    return sealed(whole)


def sent(client: RawClient, topic: Topic, batch: bytes | None, **how: Any) -> Any:
    """The answer to one batch, or that the broker hung up."""
    try:
        answer = plain(produce(client, topic, batch, **how))
    except ConnectionClosedError:
        return "hung up"
    if answer.get("record_errors"):
        for error in answer["record_errors"]:
            error["batch_index_error_message"] = bool(error["batch_index_error_message"])
    return answer


def refused(engine: Engine, name: str, batch: bytes | None, **configs: str) -> Any:
    """What happens to one batch, and what is in the log afterwards."""
    with engine.raw() as client:
        settings = {key.replace("_", "."): value for key, value in configs.items()}
        topic = create_topic(client, name, configs=settings)
        answer = sent(client, topic, batch)
    with engine.raw() as client:
        return answer, readable(fetch(client, topic).records)


def readable(batches: bytes | None) -> Any:
    """The records, or that nobody can read them."""
    try:
        return records(batches)
    except Exception:
        return "not readable"


@program
def produce_every_version(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        answers = [sent(client, topic, batch_of([b"%d" % v]), version=v) for v in PRODUCE_VERSIONS]
        return answers, records(fetch(client, topic).records)


@program
def produce_each_codec(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        messages = [Message(b"v" * 50, b"k", WHEN + n, [("h", b"%d" % n)]) for n in range(20)]
        answers = [sent(client, topic, batch_of(messages, codec)) for codec in CODECS]
        return answers, records(fetch(client, topic).records)


@program
def produce_headers_nulls_and_empties(engine: Engine, name: str) -> Any:
    messages = [
        Message(None, None),
        Message(b"", b""),
        Message(None, b"k", WHEN, [("h", None), ("h", b""), ("", b"x"), ("ü", b"\xff")]),
    ]
    return refused(engine, name, batch_of(messages))


@program
def produce_acks_zero_then_read(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        client.send("produce", 12, answered=False, **produce_body(topic, batch_of([b"a"]), acks=0))
        after = sent(client, topic, batch_of([b"b"]))
        return after, values(fetch(client, topic).records)


@program
def produce_acks_zero_refused_hangs_up(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        body = produce_body(topic, batch_of([b"a"]), partition=7, acks=0)
        client.send("produce", 12, answered=False, **body)
        return client.is_closed_by_broker()


@program
def produce_acks_of_no_meaning(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        return [sent(client, topic, batch_of([b"a"]), acks=acks) for acks in (2, -2, 127, 1, -1)]


@program
def produce_to_unknown_partition(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name, partitions=2)
        return [sent(client, topic, batch_of([b"a"]), partition=p) for p in (2, 99, -1)]


@program
def produce_to_unknown_topic(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        ghost = Topic(f"{name}-ghost", uuid.UUID(int=7))
        return [sent(client, ghost, batch_of([b"a"]), version=v) for v in (3, 9, 12, 13)]


@program
def produce_to_topic_with_bad_name(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        bad = Topic("no spaces allowed", uuid.UUID(int=0))
        return [sent(client, bad, batch_of([b"a"]), version=v) for v in (9, 12)]


@program
def produce_after_delete_by_id(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        delete_topic(client, topic)
        wait_for(lambda: is_gone(client, name))
        return sent(client, topic, batch_of([b"x"]), version=13)


@program
def produce_no_records(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        return sent(client, topic, b"")


@program
def produce_wrong_checksum(engine: Engine, name: str) -> Any:
    batch = bytearray(batch_of([b"a"]))
    batch[-1] ^= 1
    return refused(engine, name, bytes(batch))


@program
def produce_wrong_magic(engine: Engine, name: str) -> Any:
    answers = []
    for magic in (0, 1, 3, 127):
        batch = bytearray(batch_of([b"a"]))
        batch[16] = magic
        answers.append(refused(engine, f"{name}-{magic}", sealed(batch)))
    return answers


@program
def produce_cut_off_batch(engine: Engine, name: str) -> Any:
    batch = batch_of([b"a" * 100])
    return [refused(engine, f"{name}-{keep}", batch[:keep]) for keep in (5, 17, 40, 61, 120)]


@program
def produce_trailing_rubbish(engine: Engine, name: str) -> Any:
    return refused(engine, name, batch_of([b"a"]) + b"rubbish")


@program
def produce_two_batches_at_once(engine: Engine, name: str) -> Any:
    return refused(engine, name, batch_of([b"a"]) + batch_of([b"b"]))


@program
def produce_count_that_lies(engine: Engine, name: str) -> Any:
    batch = batch_of([b"a", b"b"])
    return [
        refused(engine, f"{name}-{count}", changed(batch, COUNT, ">i", count))
        for count in (0, 1, 3, -1)
    ]


@program
def produce_count_that_lies_compressed(engine: Engine, name: str) -> Any:
    batch = batch_of([b"a" * 100, b"b" * 100], "gzip")
    return [
        refused(engine, f"{name}-{count}", changed(batch, COUNT, ">i", count))
        for count in (0, 1, 3)
    ]


@program
def produce_last_offset_that_lies(engine: Engine, name: str) -> Any:
    batch = batch_of([b"a", b"b"])
    return [
        refused(engine, f"{name}-{delta}", changed(batch, LAST_OFFSET_DELTA, ">i", delta))
        for delta in (0, 5, -1)
    ]


@program
def produce_control_batch(engine: Engine, name: str) -> Any:
    return refused(engine, name, changed(batch_of([b"a"]), ATTRIBUTES, ">h", 0x20))


@program
def produce_claims_log_append_time(engine: Engine, name: str) -> Any:
    return refused(engine, name, changed(batch_of([b"a"]), ATTRIBUTES, ">h", 0x08))


@program
def produce_unknown_codec(engine: Engine, name: str) -> Any:
    return [
        refused(engine, f"{name}-{codec}", changed(batch_of([b"a"]), ATTRIBUTES, ">h", codec))
        for codec in (5, 7)
    ]


@program
def produce_codec_that_is_not(engine: Engine, name: str) -> Any:
    return [
        refused(engine, f"{name}-{codec}", changed(batch_of([b"a" * 20]), ATTRIBUTES, ">h", codec))
        for codec in (1, 2, 3, 4)
    ]


@program
def produce_max_timestamp_that_lies(engine: Engine, name: str) -> Any:
    batch = batch_of([Message(b"a", timestamp=WHEN)])
    with engine.raw() as client:
        topic = create_topic(client, name)
        answer = sent(client, topic, changed(batch, MAX_TIMESTAMP, ">q", WHEN + 9))
        return (
            answer,
            records(fetch(client, topic).records),
            plain(list_offset(client, topic, -3)),
            plain(list_offset(client, topic, WHEN + 1)),
        )


@program
def produce_too_large(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name, configs={"max.message.bytes": "1000"})
        small = batch_of([b"x" * 900])
        edge = batch_of([b"x" * (900 + 1000 - len(small))])
        over = batch_of([b"x" * (901 + 1000 - len(small))])
        return len(edge), [sent(client, topic, batch) for batch in (small, edge, over)]


@program
def produce_small_when_compressed(engine: Engine, name: str) -> Any:
    return refused(engine, name, batch_of([b"x" * 5000], "gzip"), max_message_bytes="1000")


@program
def produce_topic_recompresses(engine: Engine, name: str) -> Any:
    seen = []
    for codec in ("gzip", "snappy", "lz4", "zstd", "uncompressed", "producer"):
        with engine.raw() as client:
            topic = create_topic(client, f"{name}-{codec}", configs={"compression.type": codec})
            answer = sent(client, topic, batch_of([b"v" * 100] * 5, "gzip"))
            stored = fetch(client, topic).records
            seen.append([codec, answer, stored[22] & 7, records(stored)])
    return seen


@program
def produce_log_append_time(engine: Engine, name: str) -> Any:
    before = time.time_ns() // 1_000_000
    with engine.raw() as client:
        topic = create_topic(client, name, configs={"message.timestamp.type": "LogAppendTime"})
        answer = produce(client, topic, batch_of([b"a", b"b"]))
        found = records(fetch(client, topic).records)
    after = time.time_ns() // 1_000_000
    return (
        picked(answer, "error_code", "base_offset"),
        before <= answer.log_append_time.timestamp() * 1000 <= after,
        [record[:3] for record in found],
        {before <= record[3] <= after for record in found},
        len({record[3] for record in found}),
    )


@program
def produce_timestamps_too_old_or_new(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        limits = {
            "message.timestamp.before.max.ms": "3600000",
            "message.timestamp.after.max.ms": "3600000",
        }
        topic = create_topic(client, name, configs=limits)
        now = time.time_ns() // 1_000_000
        hour = 3_600_000
        answers = []
        for stamps in (
            [now],
            [now - 2 * hour],
            [now + 2 * hour],
            [now, now - 2 * hour, now + 2 * hour],
            [-1],
        ):
            messages = [Message(b"x", timestamp=stamp) for stamp in stamps]
            answers.append(sent(client, topic, batch_of(messages)))
        return answers, values(fetch(client, topic).records)


@program
def produce_far_future_by_default(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        year = 365 * 24 * 3_600_000
        now = time.time_ns() // 1_000_000
        return [
            sent(client, topic, batch_of([Message(b"x", timestamp=stamp)]))
            for stamp in (now + year, 0, 1, now)
        ]


@program
def produce_null_key_to_compacted(engine: Engine, name: str) -> Any:
    messages = [Message(b"a", b"k"), Message(b"b", None), Message(None, None)]
    return refused(engine, name, batch_of(messages), cleanup_policy="compact")


@program
def produce_null_key_compressed_to_compacted(engine: Engine, name: str) -> Any:
    messages = [Message(b"a", b"k"), Message(b"b", None)]
    return refused(engine, name, batch_of(messages, "lz4"), cleanup_policy="compact")


@program
def produce_min_insync_too_high(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name, configs={"min.insync.replicas": "2"})
        return [sent(client, topic, batch_of([b"a"]), acks=acks) for acks in (-1, 1)]


@program
def produce_same_partition_twice_in_a_request(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        body = produce_body(topic, batch_of([b"a"]))
        (data,) = body["topic_data"]
        data["partition_data"] *= 2
        try:
            answer = plain(client.call("produce", 12, **body))
        except ConnectionClosedError:
            answer = "hung up"
    with engine.raw() as client:
        return answer, values(fetch(client, topic).records)


@program
def produce_nothing_at_all(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        return plain(client.call("produce", 12, acks=-1, timeout=1000, topic_data=[]))


@program
def produce_transactional_id_without_transaction(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        body = produce_body(topic, batch_of([b"a"])) | {"transactional_id": f"{name}-nobody"}
        answer = plain(client.call("produce", 12, **body))
        return answer, values(fetch(client, topic).records)


@program
def produce_by_confluent(engine: Engine, name: str) -> Any:
    producer = engine.producer(compression_type="zstd")
    reports: list[Any] = []

    def delivered(error: Any, message: Any) -> None:
        reports.append((failure(error), message.partition(), message.offset(), message.timestamp()))

    with engine.raw() as client:
        create_topic(client, name, partitions=3)
    for number in range(30):
        producer.produce(
            name,
            b"v%d" % number,
            b"k%d" % (number % 7),
            timestamp=WHEN + number,
            headers=[("n", b"%d" % number)],
            on_delivery=delivered,
        )
    producer.flush(WITHIN_S)
    return sorted(reports)


@program
def produce_too_large_by_confluent(engine: Engine, name: str) -> Any:
    producer = engine.producer(message_max_bytes=5_000_000)
    reports: list[Any] = []
    with engine.raw() as client:
        create_topic(client, name)
    for size in (10, 2_000_000, 10):
        producer.produce(
            name, b"x" * size, on_delivery=lambda error, _: reports.append(failure(error))
        )
        producer.flush(WITHIN_S)
    return reports


@program
def produce_creates_the_topic(engine: Engine, name: str) -> Any:
    producer = engine.producer()
    reports: list[Any] = []
    producer.produce(name, b"x", on_delivery=lambda error, m: reports.append((error, m.offset())))
    producer.flush(WITHIN_S)
    topic = engine.admin().list_topics(name, timeout=WITHIN_S).topics[name]
    return reports, {number: p.replicas for number, p in topic.partitions.items()}
