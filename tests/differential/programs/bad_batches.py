"""Batches that are not what they should be: damaged, lying, or not for this topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.differential.observation import plain, records, values
from tests.differential.program import program
from tests.differential.programs.produce import WHEN, changed, refused, sealed, sent
from tests.integration.raw_client import ConnectionClosedError
from tests.integration.raw_requests import create_topic, fetch, list_offset, produce_body
from tests.integration.record_batches import Message, batch_of

if TYPE_CHECKING:
    from tests.differential.engine import Engine

ATTRIBUTES, LAST_OFFSET_DELTA, MAX_TIMESTAMP, COUNT = 21, 23, 35, 57


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
def produce_null_key_to_compacted(engine: Engine, name: str) -> Any:
    messages = [Message(b"a", b"k"), Message(b"b", None), Message(None, None)]
    return refused(engine, name, batch_of(messages), cleanup_policy="compact")


@program
def produce_null_key_compressed_to_compacted(engine: Engine, name: str) -> Any:
    messages = [Message(b"a", b"k"), Message(b"b", None)]
    return refused(engine, name, batch_of(messages, "lz4"), cleanup_policy="compact")


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
