"""Transactions from outside: group offsets in them, how they are described, real clients."""

from __future__ import annotations

import struct
from functools import partial
from typing import TYPE_CHECKING, Any

from confluent_kafka import TopicPartition
from tests.differential.engine import WITHIN_S
from tests.differential.observation import outcome, plain
from tests.differential.program import program
from tests.differential.programs.transactions import end, reader, started
from tests.integration.raw_client import request_frame
from tests.integration.raw_groups import committed
from tests.integration.raw_requests import Topic, create_topic, produce
from tests.integration.record_batches import batch_of as plain_batch
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.differential.engine import Engine


@program
def transactions_with_group_offsets(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
        producer = started(client, name)

        def commit_offset(offset: int, version: int) -> Any:
            if version < 5:
                producer.call("add_offsets_to_txn", 3, group_id=name)
            answer = producer.call(
                "txn_offset_commit",
                version,
                group_id=name,
                generation_id_or_member_epoch=-1,
                generation_id=-1,
                member_id="",
                topics=[{"name": name, "partitions": [
                    {"partition_index": 0, "committed_offset": offset,
                     "committed_leader_epoch": -1, "committed_metadata": "in a transaction"}]}],
            )  # fmt: skip
            return plain(answer.topics)

        steps = [commit_offset(7, 5), plain(committed(client, name, {name: (0,)}))]
        steps.append(plain(committed(client, name, {name: (0,)}, require_stable=True)))
        steps.append(end(producer, committed=True))
        wait_for(lambda: committed(client, name, {name: (0,)}, require_stable=True)
                 [name, 0].error_code.name == "none")  # fmt: skip
        steps.append(plain(committed(client, name, {name: (0,)}, require_stable=True)))
        steps += [commit_offset(9, 5), end(producer, committed=False)]
        wait_for(lambda: committed(client, name, {name: (0,)}, require_stable=True)
                 [name, 0].error_code.name == "none")  # fmt: skip
        steps.append(plain(committed(client, name, {name: (0,)}, require_stable=True)))
        return steps


@program
def transactions_group_offsets_of_strangers(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
        producer = started(client, name)

        def ask(**changes: Any) -> Any:
            body = {
                "group_id": name,
                "generation_id": -1,
                "member_id": "",
                "topics": [{"name": name, "partitions": [
                    {"partition_index": 0, "committed_offset": 1,
                     "committed_leader_epoch": -1, "committed_metadata": ""}]}],
            }  # fmt: skip
            return plain(producer.call("txn_offset_commit", 5, **(body | changes)).topics)

        return [
            ask(member_id="nobody", generation_id=4),
            ask(generation_id=4),
            ask(group_id=""),
            ask(producer_epoch=producer.epoch + 3),
            ask(),
        ]


@program
def transactions_are_described_and_listed(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        producer = started(client, name)

        def described() -> Any:
            """Without the raw client's help: it takes no time before 1970, and -1 means none."""
            client.send_frame(request_frame("describe_transactions", 0, 1, "raw",
                                            {"transactional_ids": [name]}))  # fmt: skip
            answer = client.receive_frame()
            at = answer.index(name.encode()) + len(name)
            size = answer[at] - 1
            state = answer[at + 1 : at + 1 + size].decode()
            timeout, start, producer_id, epoch, topics = struct.unpack_from(
                ">iqqhb", answer, at + 1 + size
            )
            known = producer_id == producer.producer_id
            return [state, timeout, min(start, 0), known, epoch, topics - 1]

        def listed(**filters: Any) -> Any:
            answer = client.call("list_transactions", 1, duration_filter=-1, **filters)
            mine = [t for t in answer.transaction_states if t.transactional_id == name]
            return plain(answer.unknown_state_filters), [t.transaction_state for t in mine]

        steps = [described(), listed()]
        producer.send(topic, b"x")
        steps += [described(), listed(), listed(state_filters=["Ongoing"])]
        steps += [listed(state_filters=["CompleteCommit"]), listed(state_filters=["Nonsense"])]
        steps.append(listed(producer_id_filters=[producer.producer_id]))
        end(producer, committed=True)
        steps += [described(), listed()]
        return steps


@program
def transactions_describe_unknown(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        return [
            plain(client.call("describe_transactions", 0, transactional_ids=[one]))
            for one in (f"{name}-ghost", "")
        ]


@program
def transactions_producer_in_a_transaction_is_described(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        produce(client, topic, plain_batch([b"x"]))
        producer = started(client, name)
        producer.send(topic, b"x")

        def described() -> Any:
            answer = client.call(
                "describe_producers", 0, topics=[{"name": name, "partition_indexes": [0]}]
            )
            return [
                [one.producer_epoch, one.last_sequence, one.current_txn_start_offset]
                for one in answer.topics[0].partitions[0].active_producers
            ]

        before = described()
        end(producer, committed=True)
        return before, described()


@program
def transactions_by_confluent(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
    producer = engine.producer(transactional_id=name)
    producer.init_transactions(WITHIN_S)
    steps: list[Any] = []
    for word, commit_it in ((b"kept", True), (b"dropped", False), (b"kept too", True)):
        producer.begin_transaction()
        producer.produce(name, word)
        if commit_it:
            steps.append(outcome(lambda: producer.commit_transaction(WITHIN_S)))
        else:
            producer.flush(WITHIN_S)
            steps.append(outcome(lambda: producer.abort_transaction(WITHIN_S)))
    found = {}
    for isolation in ("read_committed", "read_uncommitted"):
        with engine.consumer(name, isolation_level=isolation) as consumer:
            consumer.assign([TopicPartition(name, 0, 0)])
            got: list[Any] = []
            while not got or got[-1][1] != b"kept too":
                message = wait_for(partial(consumer.poll, 1))
                got.append([message.offset(), message.value()])
            found[isolation] = got
    return steps, found


@program
def transactions_read_process_write_by_confluent(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        source = create_topic(client, f"{name}-in")
        create_topic(client, f"{name}-out")
        produce(client, source, plain_batch([b"%d" % n for n in range(5)]))
    producer = engine.producer(transactional_id=name)
    producer.init_transactions(WITHIN_S)
    with engine.consumer(name) as consumer:
        consumer.subscribe([f"{name}-in"])
        for _ in range(5):
            message = wait_for(lambda: consumer.poll(1))
            producer.begin_transaction()
            producer.produce(f"{name}-out", message.value() + b"!")
            producer.send_offsets_to_transaction(
                consumer.position(consumer.assignment()), consumer.consumer_group_metadata()
            )
            producer.commit_transaction(WITHIN_S)
        place = consumer.committed([TopicPartition(f"{name}-in", 0)], WITHIN_S)
    with engine.raw() as client:
        out = reader(client, Topic(f"{name}-out", source.id))
    return place[0].offset, [value for _, value in out["values"]]


@program
def transactions_zombie_by_confluent(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
    old = engine.producer(transactional_id=name)
    old.init_transactions(WITHIN_S)
    old.begin_transaction()
    old.produce(name, b"zombie")
    old.flush(WITHIN_S)
    new = engine.producer(transactional_id=name)
    new.init_transactions(WITHIN_S)
    return outcome(lambda: old.commit_transaction(WITHIN_S))
