"""Fetching: limits, waiting, sessions, epochs, and offsets that are not there."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from tests.differential.observation import picked, plain, values
from tests.differential.program import program
from tests.integration.raw_requests import (
    FETCH_VERSIONS,
    Topic,
    create_topic,
    delete_topic,
    fetch,
    fetch_partition,
    fetch_topic,
    produce,
)
from tests.integration.record_batches import batch_of
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.differential.engine import Engine
    from tests.integration.raw_client import RawClient

POSITIONS = ("error_code", "high_watermark", "last_stable_offset", "log_start_offset")


def filled(client: RawClient, name: str, batches: int = 3, partitions: int = 1) -> Topic:
    """A topic with single-record batches 0, 1, 2 in each partition."""
    topic = create_topic(client, name, partitions)
    for partition in range(partitions):
        for number in range(batches):
            produce(client, topic, batch_of([b"%d" % number]), partition=partition)
    return topic


def is_gone(client: RawClient, name: str) -> bool:
    answer = client.call("metadata", 12, topics=[{"name": name}], allow_auto_topic_creation=False)
    return bool(answer.topics[0].error_code.name == "unknown_topic_or_partition")


def seen(answer: Any) -> Any:
    """One partition of a fetch: its positions and its records."""
    known = [name for name in POSITIONS if hasattr(answer, name)]
    extra = {} if not hasattr(answer, "current_leader") else picked(answer, "current_leader")
    return picked(answer, *known) | extra | {"values": values(answer.records)}


def whole(client: RawClient, version: int = 16, **body: Any) -> Any:
    """A whole answer: its error, its session, its partitions."""
    given = {"max_wait": 0, "min_bytes": 1, "max_bytes": 1 << 20, "session_epoch": -1} | body
    answer = client.call("fetch", version, **given)
    return {
        "error": plain(answer.error_code),
        "session": answer.session_id != 0,
        "topics": [
            [
                getattr(topic, "topic", None) or topic.topic_id,
                [[one.partition_index, seen(one)] for one in topic.partitions],
            ]
            for topic in answer.responses
        ],
    }


@program
def fetch_every_version(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = filled(client, name)
        return [seen(fetch(client, topic, version=version)) for version in FETCH_VERSIONS]


@program
def fetch_from_each_offset(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = filled(client, name)
        return [seen(fetch(client, topic, offset)) for offset in (0, 1, 2, 3)]


@program
def fetch_offsets_out_of_range(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = filled(client, name)
        return [seen(fetch(client, topic, offset)) for offset in (4, 99, -1, -2, 2**62)]


@program
def fetch_from_inside_a_batch(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        for codec in ("none", "gzip"):
            produce(client, topic, batch_of([b"%d" % n for n in range(5)], codec))
        return [seen(fetch(client, topic, offset)) for offset in (3, 7, 9)]


@program
def fetch_partition_limit_lets_one_batch_through(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = filled(client, name)
        return [seen(fetch(client, topic, partition_max_bytes=limit)) for limit in (1, 80, 150)]


@program
def fetch_whole_limit_lets_one_batch_through(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = filled(client, name, partitions=3)
        partitions = [fetch_partition(index) for index in range(3)]
        return [
            whole(client, 12, max_bytes=limit, topics=[fetch_topic(topic, *partitions)])
            for limit in (1, 75, 300, 10_000)
        ]


@program
def fetch_limits_of_zero_and_below(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = filled(client, name)
        return [
            seen(fetch(client, topic, partition_max_bytes=0)),
            seen(fetch(client, topic, max_bytes=0)),
        ]


@program
def fetch_unknown_partition_and_topic(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = filled(client, name)
        ghost = Topic(f"{name}-ghost", uuid.UUID(int=7))
        return [
            [seen(fetch(client, topic, partition=5, version=v)) for v in (4, 12, 13, 17)],
            [seen(fetch(client, ghost, version=v)) for v in (4, 12, 13, 17)],
        ]


@program
def fetch_one_good_one_bad_partition(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = filled(client, name)
        return whole(
            client, 12, topics=[fetch_topic(topic, fetch_partition(0), fetch_partition(9))]
        )


@program
def fetch_with_leader_epochs(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = filled(client, name)
        return [seen(fetch(client, topic, leader_epoch=epoch)) for epoch in (-1, 0, 1, 100)]


@program
def fetch_at_the_end_does_not_wait_without_time(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = filled(client, name)
        return seen(fetch(client, topic, 3, max_wait=0, min_bytes=1_000_000))


@program
def fetch_waits_for_bytes_that_never_come(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = filled(client, name)
        return seen(fetch(client, topic, 0, max_wait=300, min_bytes=1_000_000))


@program
def fetch_is_woken_by_a_produce(engine: Engine, name: str) -> Any:
    with engine.raw() as reader, engine.raw() as writer:
        topic = filled(writer, name)
        reader.send(
            "fetch",
            12,
            max_wait=30_000,
            min_bytes=1,
            max_bytes=1 << 20,
            session_epoch=-1,
            topics=[fetch_topic(topic, fetch_partition(0, 3))],
        )
        produce(writer, topic, batch_of([b"new"]))
        answer = reader.receive()
        return seen(answer.responses[0].partitions[0])


@program
def fetch_error_does_not_wait(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = filled(client, name)
        return seen(fetch(client, topic, 99, max_wait=20_000, min_bytes=1_000_000))


@program
def fetch_below_the_log_start(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = filled(client, name)
        client.call(
            "delete_records",
            2,
            timeout=30_000,
            topics=[{"name": name, "partitions": [{"partition_index": 0, "offset": 2}]}],
        )
        return [seen(fetch(client, topic, offset)) for offset in (0, 1, 2)]


@program
def fetch_read_committed_without_transactions(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = filled(client, name)
        answer = client.call(
            "fetch",
            12,
            max_wait=0,
            min_bytes=1,
            isolation_level=1,
            session_epoch=-1,
            topics=[fetch_topic(topic, fetch_partition())],
        )
        return seen(answer.responses[0].partitions[0]), plain(
            answer.responses[0].partitions[0].aborted_transactions
        )


@program
def fetch_same_partition_twice(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = filled(client, name)
        twice = fetch_topic(topic, fetch_partition(0, 0), fetch_partition(0, 2))
        return whole(client, 12, topics=[twice])


@program
def fetch_nothing(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        return [whole(client, version, topics=[]) for version in (7, 12, 13, 17)]


@program
def fetch_incremental_session(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = filled(client, name, partitions=2)
        steps = []
        session = {"session_id": 0, "session_epoch": 0}

        def step(**body: Any) -> None:
            answer = client.call(
                "fetch", 12, max_wait=0, min_bytes=1, max_bytes=1 << 20, **(session | body)
            )
            steps.append(
                [
                    plain(answer.error_code),
                    answer.session_id != 0,
                    [
                        [t.topic, [[p.partition_index, seen(p)] for p in t.partitions]]
                        for t in answer.responses
                    ],
                ]
            )
            session["session_id"] = answer.session_id
            session["session_epoch"] += 1

        step(topics=[fetch_topic(topic, fetch_partition(0), fetch_partition(1))])
        step(topics=[fetch_topic(topic, fetch_partition(0, 3), fetch_partition(1, 3))])
        step(topics=[])
        produce(client, topic, batch_of([b"new"]), partition=1)
        step(topics=[])
        step(topics=[], forgotten_topics_data=[{"topic": name, "partitions": [1]}])
        produce(client, topic, batch_of([b"newer"]), partition=1)
        step(topics=[])
        return steps


@program
def fetch_session_of_nobody(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = filled(client, name)
        partitions = [fetch_topic(topic, fetch_partition())]
        return [
            whole(client, 12, session_id=12345, session_epoch=1, topics=partitions),
            whole(client, 12, session_id=0, session_epoch=5, topics=partitions),
        ]


@program
def fetch_session_with_wrong_epoch(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = filled(client, name)
        opened = client.call(
            "fetch",
            12,
            max_wait=0,
            min_bytes=0,
            session_epoch=0,
            topics=[fetch_topic(topic, fetch_partition())],
        )
        return [
            whole(client, 12, session_id=opened.session_id, session_epoch=epoch, topics=[])
            for epoch in (7, 1, 1, 2)
        ]


@program
def fetch_deleted_topic(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = filled(client, name)
        delete_topic(client, topic)
        wait_for(lambda: is_gone(client, name))
        return [seen(fetch(client, topic, version=version)) for version in (12, 13)]


@program
def fetch_recreated_topic_by_its_old_id(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        old = filled(client, name)
        delete_topic(client, old)
        wait_for(lambda: is_gone(client, name))
        new = create_topic(client, name)
        return [
            old.id == new.id,
            seen(fetch(client, old, version=13)),
            seen(fetch(client, new, version=13)),
        ]


@program
def fetch_preferred_replica_of_a_rack(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = filled(client, name)
        answer = client.call(
            "fetch",
            12,
            max_wait=0,
            min_bytes=1,
            session_epoch=-1,
            rack_id="rack-a",
            topics=[fetch_topic(topic, fetch_partition())],
        )
        return plain(answer.responses[0].partitions[0].preferred_read_replica)


@program
def fetch_last_fetched_epoch_detects_divergence(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = filled(client, name)
        found = []
        for last_epoch in (-1, 0, 5):
            partition = fetch_partition(0, 1) | {"last_fetched_epoch": last_epoch}
            answer = client.call(
                "fetch",
                12,
                max_wait=0,
                min_bytes=1,
                session_epoch=-1,
                topics=[fetch_topic(topic, partition)],
            )
            one = answer.responses[0].partitions[0]
            found.append([seen(one), plain(one.diverging_epoch)])
        return found
