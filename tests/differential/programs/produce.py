"""Producing: batches good and bad, acknowledgements, timestamps, sizes, codecs."""

from __future__ import annotations

import struct
import time
import uuid
from typing import TYPE_CHECKING, Any

from google_crc32c import value as crc32c
from tests.differential.engine import WITHIN_S
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
    produce,
    produce_body,
)
from tests.integration.record_batches import CODECS, Message, batch_of
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.differential.engine import Engine
    from tests.integration.raw_client import RawClient

WHEN = 1_700_000_000_000


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
def produce_min_insync_too_high(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name, configs={"min.insync.replicas": "2"})
        return [sent(client, topic, batch_of([b"a"]), acks=acks) for acks in (-1, 1)]


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
