"""Offsets in transactions over the raw protocol: every version, and every way to get it wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from kio.schema.errors import ErrorCode
from tests.integration.raw_client import RawClient
from tests.integration.raw_groups import find_coordinator
from tests.integration.raw_requests import Topic, create_topic
from tests.integration.raw_transactions import RawProducer, is_final
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.conftest import StartBroker

OLD_CLIENT, NEW_CLIENT = 4, 5
"""From version 5 on, TxnOffsetCommit adds the group's offsets to the transaction itself."""
NO_OFFSET = -1


@pytest.fixture
def producer(client: RawClient, topic: str) -> RawProducer:
    return start_producer(client, topic)


def start_producer(client: RawClient, name: str) -> RawProducer:
    find_coordinator(client, name)
    producer = RawProducer(client, name)
    producer.init()
    return producer


def commit(
    producer: RawProducer,
    topic: Topic,
    offset: int,
    version: int = NEW_CLIENT,
    *,
    partition: int = 0,
    **changes: Any,
) -> ErrorCode:
    """TxnOffsetCommit of one offset for the group of the topic's name."""
    body = {
        "group_id": topic.name,
        "generation_id": -1,
        "member_id": "",
        "topics": [
            {
                "name": topic.name,
                "partitions": [
                    {
                        "partition_index": partition,
                        "committed_offset": offset,
                        "committed_leader_epoch": -1,
                        "committed_metadata": "so far",
                    }
                ],
            }
        ],
    }

    def ask() -> Any:
        answer = producer.call("txn_offset_commit", version, **(body | changes))
        return answer.topics[0].partitions[0]

    code: ErrorCode = wait_for(ask, until=is_final).error_code
    return code


def add_offsets(producer: RawProducer, group: str, version: int = 4, **changes: Any) -> ErrorCode:
    body = {"group_id": group} | changes
    answer = wait_for(lambda: producer.call("add_offsets_to_txn", version, **body), until=is_final)
    code: ErrorCode = answer.error_code
    return code


def fetched(client: RawClient, topic: Topic, *, stable: bool = False) -> tuple[ErrorCode, int]:
    """OffsetFetch; with `stable`, an open transaction is an error."""
    answer = wait_for(
        lambda: client.call(
            "offset_fetch",
            7,
            group_id=topic.name,
            topics=[{"name": topic.name, "partition_indexes": [0]}],
            require_stable=stable,
        ),
        until=is_final,
    )
    partition = answer.topics[0].partitions[0]
    return partition.error_code, partition.committed_offset


def until_committed(client: RawClient, topic: Topic, offset: int) -> None:
    """Markers may come shortly after the answer to EndTxn."""
    wait_for(lambda: fetched(client, topic), until=lambda found: found == (ErrorCode.none, offset))


def until_stable(client: RawClient, topic: Topic) -> None:
    wait_for(
        lambda: fetched(client, topic, stable=True),
        until=lambda found: found[0] is not ErrorCode.unstable_offset_commit,
    )


def test_offsets_wait_for_the_end(client: RawClient, producer: RawProducer, created: Topic) -> None:
    assert commit(producer, created, 5) is ErrorCode.none
    assert fetched(client, created) == (ErrorCode.none, NO_OFFSET)
    assert fetched(client, created, stable=True)[0] is ErrorCode.unstable_offset_commit
    producer.end(committed=True)
    until_committed(client, created, 5)
    assert fetched(client, created, stable=True) == (ErrorCode.none, 5)

    assert commit(producer, created, 9) is ErrorCode.none
    producer.end(committed=False)
    until_stable(client, created)
    assert fetched(client, created) == (ErrorCode.none, 5)


@pytest.mark.parametrize("version", range(5))
def test_every_version_of_old_clients(
    client: RawClient, producer: RawProducer, created: Topic, version: int
) -> None:
    assert add_offsets(producer, created.name, version) is ErrorCode.none
    assert commit(producer, created, 5, version) is ErrorCode.none
    assert producer.end(committed=True, version=version).error_code is ErrorCode.none
    until_committed(client, created, 5)


@pytest.mark.parametrize(
    ("version", "code"),
    [(3, ErrorCode.invalid_txn_state), (4, ErrorCode.transaction_abortable)],
)
def test_old_clients_have_to_add_offsets_first(
    producer: RawProducer, created: Topic, version: int, code: ErrorCode
) -> None:
    assert commit(producer, created, 5, version) is code


def test_records_and_offsets_end_together(
    client: RawClient, producer: RawProducer, created: Topic
) -> None:
    for round_ in range(3):
        producer.send(created, b"x")
        assert commit(producer, created, round_ + 1) is ErrorCode.none
        assert producer.end(committed=True).error_code is ErrorCode.none
        until_committed(client, created, round_ + 1)


@pytest.mark.parametrize("version", [OLD_CLIENT, NEW_CLIENT])
def test_strangers_get_nowhere(producer: RawProducer, created: Topic, version: int) -> None:
    if version == OLD_CLIENT:
        add_offsets(producer, created.name)
    foreign = {"producer_id": producer.producer_id + 1000}
    code = commit(producer, created, 5, version, **foreign)
    assert code is ErrorCode.invalid_producer_id_mapping
    code = commit(producer, created, 5, version, producer_epoch=producer.epoch + 1)
    assert code is ErrorCode.invalid_producer_epoch
    code = commit(producer, created, 5, version, transactional_id="nobody's")
    assert code is ErrorCode.invalid_producer_id_mapping


def test_strangers_cannot_add_offsets(producer: RawProducer, created: Topic) -> None:
    foreign = {"producer_id": producer.producer_id + 1000}
    newer = {"producer_epoch": producer.epoch + 1}
    name = created.name
    assert add_offsets(producer, name, **foreign) is ErrorCode.invalid_producer_id_mapping
    assert add_offsets(producer, name, **newer) is ErrorCode.producer_fenced
    assert add_offsets(producer, name, 1, **newer) is ErrorCode.invalid_producer_epoch
    assert add_offsets(producer, name, transactional_id="") is ErrorCode.invalid_request


def test_partitions_that_do_not_exist(producer: RawProducer, created: Topic) -> None:
    code = commit(producer, created, 5, partition=7)
    assert code is ErrorCode.unknown_topic_or_partition
    unknown = Topic("no-such-topic", created.id)
    code = commit(producer, unknown, 5, group_id=created.name)
    assert code is ErrorCode.unknown_topic_or_partition


def test_members_that_do_not_exist(producer: RawProducer, created: Topic) -> None:
    for member in ("", "nobody"):
        code = commit(producer, created, 5, member_id=member, generation_id=3)
        assert code is ErrorCode.illegal_generation


def test_a_negative_offset_is_taken_as_kafka_does(
    client: RawClient, producer: RawProducer, created: Topic
) -> None:
    assert commit(producer, created, -7) is ErrorCode.none
    producer.end(committed=True)
    until_stable(client, created)


@pytest.mark.parametrize("dies", [False, True], ids=["stopped", "killed"])
@pytest.mark.parametrize("committed", [True, False], ids=["committed", "aborted"])
def test_offsets_of_an_open_transaction_survive_a_restart(
    start_broker: StartBroker, topic: str, dies: bool, committed: bool
) -> None:
    broker = start_broker()
    with RawClient(broker) as client:
        created = create_topic(client, topic)
        producer = start_producer(client, topic)
        assert commit(producer, created, 3) is ErrorCode.none
        producer.end(committed=True)
        until_committed(client, created, 3)
        assert commit(producer, created, 5) is ErrorCode.none
    broker.kill() if dies else broker.stop()
    broker.start()
    with RawClient(broker) as client:
        find_coordinator(client, topic)
        assert fetched(client, created) == (ErrorCode.none, 3)
        assert fetched(client, created, stable=True)[0] is ErrorCode.unstable_offset_commit
        producer.client = client
        wait_for(lambda: producer.end(committed=committed), until=is_final)
        until_stable(client, created)
        assert fetched(client, created) == (ErrorCode.none, 5 if committed else 3)
