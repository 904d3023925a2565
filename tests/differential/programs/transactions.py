"""Transactions: what becomes visible when, who is fenced, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.differential.observation import picked, plain, values
from tests.differential.program import program
from tests.integration.raw_requests import (
    Topic,
    create_topic,
    fetch_partition,
    fetch_topic,
    list_offset,
    produce,
)
from tests.integration.raw_transactions import NEW_CLIENT, OLD_CLIENT, READ_COMMITTED, RawProducer
from tests.integration.record_batches import batch_of as plain_batch
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.differential.engine import Engine
    from tests.integration.raw_client import RawClient

SEEN = ("error_code", "base_offset")


def ended(answer: Any) -> Any:
    found = picked(answer, "error_code")
    if hasattr(answer, "producer_epoch"):
        found["epoch"] = answer.producer_epoch
    return found


def end(producer: RawProducer, *, committed: bool, version: int = 5) -> Any:
    """End the transaction and wait for its markers: the answer comes before them."""
    answer = ended(producer.end(committed=committed, version=version))
    wait_for(lambda: state_of(producer) in ("CompleteCommit", "CompleteAbort", "Empty", None))
    return answer


def state_of(producer: RawProducer) -> Any:
    answer = producer.client.call("list_transactions", 1, duration_filter=-1)
    for found in answer.transaction_states:
        if found.transactional_id == producer.transactional_id:
            return found.transaction_state
    return None


def reader(
    client: RawClient, topic: Topic, offset: int = 0, *, isolation: int = READ_COMMITTED
) -> Any:
    """What a reader of committed records is given."""
    answer = client.call(
        "fetch",
        12,
        max_wait=0,
        min_bytes=1,
        session_epoch=-1,
        isolation_level=isolation,
        max_bytes=1 << 20,
        topics=[fetch_topic(topic, fetch_partition(0, offset))],
    )
    one = answer.responses[0].partitions[0]
    aborted = one.aborted_transactions
    return {
        **picked(one, "error_code", "high_watermark", "last_stable_offset"),
        "values": values(one.records),
        "aborted": None if aborted is None else [txn.first_offset for txn in aborted],
    }


def started(client: RawClient, name: str, **how: Any) -> RawProducer:
    producer = RawProducer(client, name)
    assert producer.init(**how).error_code.name == "none"
    return producer


@program
def transactions_commit(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        producer = started(client, name)
        sent = picked(producer.send(topic, b"a", b"b"), *SEEN)
        open_view = reader(client, topic)
        answer = end(producer, committed=True)
        return sent, open_view, answer, reader(client, topic), reader(client, topic, isolation=0)


@program
def transactions_abort(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        producer = started(client, name)
        produce(client, topic, plain_batch([b"before"]))
        producer.send(topic, b"a", b"b")
        produce(client, topic, plain_batch([b"between"]))
        open_view = reader(client, topic)
        answer = end(producer, committed=False)
        return open_view, answer, reader(client, topic), reader(client, topic, 2)


@program
def transactions_of_old_clients(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name, 2)
        producer = started(client, name, version=4)
        unregistered = picked(producer.send(topic, b"early", version=OLD_CLIENT), *SEEN)
        added = plain(producer.add_partitions({name: [0, 1]}))
        sent = [
            picked(producer.send(topic, b"x", partition=p, version=OLD_CLIENT), *SEEN)
            for p in (0, 1)
        ]
        answer = end(producer, committed=True, version=3)
        again = ended(producer.end(committed=True, version=3))
        other = ended(producer.end(committed=False, version=3))
        return unregistered, added, sent, answer, again, other, reader(client, topic)


@program
def transactions_epochs_rise_with_new_clients(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        producer = started(client, name)
        epochs = [producer.epoch]
        for committed_ in (True, False, True):
            producer.send(topic, b"x", version=NEW_CLIENT)
            end(producer, committed=committed_)
            epochs.append(producer.epoch)
        return epochs


@program
def transactions_end_without_beginning(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        return [
            ended(started(client, f"{name}-{version}-{committed_}", version=4).end(
                committed=committed_, version=version))
            for version in (1, 3, 4, 5) for committed_ in (True, False)
        ]  # fmt: skip


@program
def transactions_fencing_by_init(engine: Engine, name: str) -> Any:
    with engine.raw() as client, engine.raw() as other:
        topic = create_topic(client, name)
        old = started(client, name)
        old.send(topic, b"zombie")
        new = started(other, name)
        wait_for(lambda: state_of(new) in ("Empty", "CompleteAbort"))
        return [
            new.epoch > old.epoch,
            plain(old.send(topic, b"again").error_code),
            ended(old.end(committed=True)),
            picked(new.send(topic, b"alive"), "error_code"),
            end(new, committed=True),
            [value for _, value in reader(client, topic)["values"]],
            len(reader(client, topic)["aborted"]),
        ]


@program
def transactions_init_with_epochs(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        producer = started(client, name)
        me = (producer.producer_id, producer.epoch)
        answers = []
        for expected in (me, me, (me[0], 99), (me[0] + 1_000_000, 0)):
            answer = producer.init(expected=expected)
            answers.append([plain(answer.error_code), answer.producer_epoch])
        return answers


@program
def transactions_bad_inits(engine: Engine, name: str) -> Any:
    with engine.raw() as client:

        def ask(transactional_id: str | None, timeout: int) -> Any:
            return plain(
                client.call(
                    "init_producer_id",
                    4,
                    transactional_id=transactional_id,
                    transaction_timeout=timeout,
                    producer_id=-1,
                    producer_epoch=-1,
                ).error_code
            )

        return [ask("", 1000), ask(f"{name}-a", 0), ask(f"{name}-b", -1), ask(f"{name}-c", 10**9)]


@program
def transactions_time_out(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        producer = started(client, name, timeout_ms=300)
        producer.send(topic, b"too slow")
        wait_for(lambda: state_of(producer) == "CompleteAbort")
        wait_for(lambda: reader(client, topic)["last_stable_offset"] == 2)
        return [
            reader(client, topic),
            ended(producer.end(committed=True)),
            plain(producer.send(topic, b"x").error_code),
            [plain(producer.init().error_code), plain(producer.send(topic, b"y").error_code)],
        ]


@program
def transactions_add_partitions_refusals(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
        producer = started(client, name)
        return [
            plain(producer.add_partitions({f"{name}-ghost": [0], name: [0]})),
            plain(producer.add_partitions({name: [7]})),
            plain(producer.add_partitions({name: [0]}, producer_epoch=producer.epoch + 5)),
            plain(producer.add_partitions({name: [0]}, producer_id=producer.producer_id + 10**6)),
            plain(producer.add_partitions({name: [0]}, transactional_id=f"{name}-ghost")),
        ]


@program
def transactions_end_refusals(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        producer = started(client, name)
        producer.send(topic, b"x")
        stranger = RawProducer(client, f"{name}-ghost")
        stranger.producer_id, stranger.epoch = producer.producer_id, producer.epoch
        return [
            ended(producer.end(committed=True, producer_epoch=producer.epoch + 5)),
            ended(producer.end(committed=True, producer_id=producer.producer_id + 10**6)),
            ended(stranger.end(committed=True)),
            end(producer, committed=True),
        ]


@program
def transactions_two_at_once_on_a_partition(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        first, second = started(client, f"{name}-1"), started(client, f"{name}-2")
        first.send(topic, b"a1")
        second.send(topic, b"b1")
        first.send(topic, b"a2")
        views = [reader(client, topic)]
        end(second, committed=True)
        views.append(reader(client, topic))
        end(first, committed=False)
        views.append(reader(client, topic))
        return views


@program
def transactions_offsets_by_isolation(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        producer = started(client, name)
        producer.send(topic, b"a", b"b")
        found = []
        for isolation in (0, 1):
            answer = client.call(
                "list_offsets",
                9,
                replica_id=-1,
                isolation_level=isolation,
                timeout=1000,
                topics=[{"name": name, "partitions": [
                    {"partition_index": 0, "timestamp": -1, "current_leader_epoch": -1}]}],
            )  # fmt: skip
            found.append(plain(answer.topics))
        end(producer, committed=True)
        return found, plain(list_offset(client, topic, -1))


@program
def transactions_non_transactional_batch_in_between(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        producer = started(client, name)
        producer.send(topic, b"in")
        loose = RawProducer(client)
        loose.producer_id, loose.epoch = producer.producer_id, producer.epoch
        answer = picked(loose.send(topic, b"out", sequence=1), *SEEN)
        end(producer, committed=True)
        return answer
