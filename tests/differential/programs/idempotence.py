"""Idempotent producers: sequences, duplicates, gaps and epochs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.differential.engine import WITHIN_S
from tests.differential.observation import failure, picked, plain, values
from tests.differential.program import program
from tests.differential.programs.produce import changed
from tests.integration.raw_requests import create_topic, fetch, produce
from tests.integration.raw_transactions import RawProducer, batch_of

if TYPE_CHECKING:
    from tests.differential.engine import Engine

SEEN = ("error_code", "base_offset", "log_start_offset")


@program
def idempotence_ids_are_given_out(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        answers = []
        for version in range(6):
            answer = client.call(
                "init_producer_id", version, transactional_id=None, transaction_timeout=60_000
            )
            answers.append([plain(answer.error_code), answer.producer_epoch])
        first, second = RawProducer(client), RawProducer(client)
        first.init()
        second.init()
        return answers, second.producer_id > first.producer_id


@program
def idempotence_asking_with_an_id(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        producer = RawProducer(client)
        producer.init()
        again = producer.init(expected=(producer.producer_id, producer.epoch))
        return [plain(again.error_code), again.producer_epoch]


@program
def idempotence_duplicates_are_not_stored(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        producer = RawProducer(client)
        producer.init()
        answers = [
            picked(producer.send(topic, b"v%d" % sequence, sequence=sequence), *SEEN)
            for sequence in (0, 1, 1, 0, 2, 2, 1)
        ]
        return answers, values(fetch(client, topic).records)


@program
def idempotence_only_five_batches_are_remembered(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        producer = RawProducer(client)
        producer.init()
        for sequence in range(8):
            producer.send(topic, b"v%d" % sequence, sequence=sequence)
        return [
            picked(producer.send(topic, b"again", sequence=sequence), *SEEN)
            for sequence in (7, 3, 2, 0)
        ]


@program
def idempotence_gaps_are_refused(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        producer = RawProducer(client)
        producer.init()
        answers = [
            picked(producer.send(topic, b"v", sequence=sequence), *SEEN)
            for sequence in (0, 2, 1, 5, 2)
        ]
        return answers, values(fetch(client, topic).records)


@program
def idempotence_first_sequence_of_a_stranger(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        answers = []
        for producer_id, sequence in ((987_654, 0), (987_655, 5), (987_656, 2**31 - 1)):
            batch = batch_of([b"v"], producer_id=producer_id, epoch=0, sequence=sequence)
            answers.append(picked(produce(client, topic, batch), *SEEN))
        return answers


@program
def idempotence_duplicate_with_another_length(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        producer = RawProducer(client)
        producer.init()
        return [
            picked(producer.send(topic, b"a", b"b", b"c", sequence=0), *SEEN),
            picked(producer.send(topic, b"a", b"b", sequence=0), *SEEN),
            picked(producer.send(topic, b"a", b"b", b"c", sequence=0), *SEEN),
            picked(producer.send(topic, b"x", sequence=1), *SEEN),
        ]


@program
def idempotence_epochs(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        producer = RawProducer(client)
        producer.init()
        steps = ((0, 0), (3, 1), (3, 0), (2, 0), (3, 1), (4, 7))
        return [
            picked(producer.send(topic, b"v", epoch=epoch, sequence=sequence), *SEEN)
            for epoch, sequence in steps
        ]


@program
def idempotence_sequences_wrap_around(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        last = 2**31 - 1
        answers = []
        for sequence, count in ((last - 1, 2), (0, 1), (1, 1)):
            batch = batch_of([b"v"] * count, producer_id=555_000, epoch=0, sequence=sequence)
            answers.append(picked(produce(client, topic, batch), *SEEN))
        return answers


@program
def idempotence_id_without_sequence(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        batch = batch_of([b"v"], producer_id=5, epoch=0, sequence=0)
        return plain(produce(client, topic, changed(batch, 53, ">i", -1)).error_code)


@program
def idempotence_producers_are_described(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        producer = RawProducer(client)
        producer.init()
        producer.send(topic, b"a", b"b")
        answer = client.call(
            "describe_producers", 0, topics=[{"name": name, "partition_indexes": [0, 4]}]
        )
        found = plain(answer.topics)
        for partition in found[0]["partitions"]:
            for one in partition["active_producers"]:
                one["producer_id"] = one["producer_id"] == producer.producer_id
                one["last_timestamp"] = one["last_timestamp"] > 0
        return found


@program
def idempotence_by_confluent(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
    producer = engine.producer(enable_idempotence=True)
    reports: list[Any] = []
    for number in range(50):
        producer.produce(
            name,
            b"%d" % number,
            on_delivery=lambda error, message: reports.append((failure(error), message.offset())),
        )
    producer.flush(WITHIN_S)
    return reports
