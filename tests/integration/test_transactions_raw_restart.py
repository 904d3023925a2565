"""Transactions over the raw protocol that outlive time-outs, kills, restarts and deleted topics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kio.schema.errors import ErrorCode
from tests.integration.raw_client import RawClient
from tests.integration.raw_committed import fetched, wait_for_end, wait_for_state
from tests.integration.raw_requests import (
    Topic,
    create_topic,
    delete_topic,
)
from tests.integration.raw_transactions import (
    TRY_AGAIN,
    RawProducer,
)
from tests.waiting import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from tests.broker_process import BrokerProcess
    from tests.conftest import StartBroker


def test_what_takes_too_long_is_aborted(start_broker: StartBroker, topic: str) -> None:
    broker = start_broker({"transaction.abort.timed.out.transaction.cleanup.interval.ms": "50"})
    with RawClient(broker) as client:
        created = create_topic(client, topic)
        producer = RawProducer(client, topic)
        producer.init(timeout_ms=200)
        producer.send(created, b"x")
        wait_for_end(client, created, 2)
        assert [t.first_offset for t in fetched(client, created).aborted_transactions] == [0]
        assert producer.send(created, b"y").error_code is ErrorCode.invalid_producer_epoch
        assert producer.end(committed=True).error_code is ErrorCode.invalid_txn_state


@pytest.mark.parametrize("dies", [False, True], ids=["stopped", "killed"])
def test_a_restart_changes_nothing(start_broker: StartBroker, topic: str, dies: bool) -> None:
    broker = start_broker()
    with RawClient(broker) as client:
        created = create_topic(client, topic)
        producer = RawProducer(client, topic)
        producer.init()
        producer.send(created, b"never")
        producer.end(committed=False)
        wait_for_end(client, created, 2)
        producer.send(created, b"a")
    broker.kill() if dies else broker.stop()
    broker.start()
    with RawClient(broker) as client:
        answer = fetched(client, created)
        assert answer.last_stable_offset == 2
        assert [t.first_offset for t in answer.aborted_transactions] == [0]
        producer.client = client
        assert producer.send(created, b"b").base_offset == 3
        _until_loaded(broker, topic)
        assert producer.end(committed=True).error_code is ErrorCode.none
        wait_for_end(client, created, 5)
        assert producer.epoch == 2

        second = RawProducer(client, topic)
        second.init()
        assert second.epoch == 3
        assert producer.end(committed=False).error_code is ErrorCode.producer_fenced


def test_a_second_producer_fences_the_first_across_a_kill(
    start_broker: StartBroker, topic: str
) -> None:
    broker = start_broker()
    with RawClient(broker) as client:
        created = create_topic(client, topic)
        first = RawProducer(client, topic)
        first.init()
        first.send(created, b"lost")
    broker.kill()
    broker.start()
    with RawClient(broker) as client:
        second = RawProducer(client, topic)
        second.init()
        assert second.epoch == first.epoch + 2
        wait_for_end(client, created, 2)
    broker.kill()
    broker.start()
    with RawClient(broker) as client:
        first.client = second.client = client
        _until_loaded(broker, topic)
        assert first.send(created, b"late").error_code is ErrorCode.invalid_producer_epoch
        assert first.end(committed=True).error_code is ErrorCode.producer_fenced
        assert second.send(created, b"kept").error_code is ErrorCode.none
        assert second.end(committed=True).error_code is ErrorCode.none


def _until_loaded(broker: BrokerProcess, transactional_id: str) -> None:
    with RawClient(broker) as client:
        wait_for(
            lambda: [
                state.transactional_id
                for state in client.call("list_transactions", 0).transaction_states
            ],
            until=lambda known: transactional_id in known,
        )


def test_unused_transactional_ids_are_forgotten(start_broker: StartBroker, topic: str) -> None:
    broker = start_broker(
        {
            "transactional.id.expiration.ms": "200",
            "transaction.remove.expired.transaction.cleanup.interval.ms": "50",
        }
    )
    with RawClient(broker) as client:
        create_topic(client, topic)
        producer = RawProducer(client, topic)
        producer.init()
        wait_for(lambda: not client.call("list_transactions", 0).transaction_states)
        added = producer.add_partitions({topic: [0]})
        assert added == {(topic, 0): ErrorCode.invalid_producer_id_mapping}
    broker.kill()
    broker.start()
    with RawClient(broker) as client:
        assert not client.call("list_transactions", 0).transaction_states
        again = RawProducer(client, topic)
        again.init()
        assert again.epoch == 0
        assert again.producer_id != producer.producer_id


@pytest.mark.parametrize("committed", [True, False], ids=["commit", "abort"])
def test_what_was_decided_is_completed_by_the_next_start(
    start_broker: StartBroker, topic: str, committed: bool
) -> None:
    """A kill right after the decision was stored, before any marker was."""
    broker = start_broker()
    with RawClient(broker) as client:
        created = create_topic(client, topic)
        producer = RawProducer(client, topic)
        producer.init()
        producer.send(created, b"x")
        assert producer.end(committed=committed).error_code is ErrorCode.none
        wait_for_end(client, created, 2)
        wait_for_state(client, topic, "CompleteCommit" if committed else "CompleteAbort")
    broker.kill()
    (states,) = [
        path for path in broker.data_dir.glob("__transaction_state-*/*.log") if path.stat().st_size
    ]
    cut_last_batch(states)  # the note that it is complete
    cut_last_batch(broker.data_dir / f"{topic}-0" / f"{0:020d}.log")  # the marker
    broker.start()
    with RawClient(broker) as client:
        wait_for_end(client, created, 2)
        aborted = fetched(client, created).aborted_transactions
        assert [txn.first_offset for txn in aborted] == ([] if committed else [0])
        _until_loaded(broker, topic)
        producer.client = client
        assert producer.send(created, b"next").base_offset == 2


def cut_last_batch(path: Path) -> None:
    data = path.read_bytes()
    position = last = 0
    while position < len(data):
        last = position
        position += 12 + int.from_bytes(data[position + 8 : position + 12], "big")
    path.write_bytes(data[:last])


def test_transactions_begin_anew_when_their_topic_was_deleted(
    start_broker: StartBroker, topic: str
) -> None:
    with RawClient(start_broker()) as client:
        created = create_topic(client, topic)
        producer = RawProducer(client, topic)
        producer.init()
        delete_topic(client, Topic("__transaction_state", created.id))
        answer = producer.end(committed=False)
        assert answer.error_code in TRY_AGAIN or (
            answer.error_code is ErrorCode.invalid_producer_id_mapping
        )
        again = RawProducer(client, topic)
        again.init()
        assert again.epoch == 0
        assert again.send(created, b"x").error_code is ErrorCode.none
        assert again.end(committed=True).error_code is ErrorCode.none
