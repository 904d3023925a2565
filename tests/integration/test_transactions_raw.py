"""Transactions over the raw protocol, with clients of before and after transaction version 2."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from kio.schema.errors import ErrorCode
from tests.integration.raw_committed import (
    LATEST,
    committed_end,
    describe,
    fetched,
    wait_for_end,
    wait_for_state,
)
from tests.integration.raw_requests import (
    Topic,
    create_topic,
    delete_topic,
    list_offset,
    produce,
)
from tests.integration.raw_transactions import (
    OLD_CLIENT,
    RawProducer,
    batch_of,
)
from tests.integration.record_batches import values_in
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.integration.raw_client import RawClient


@pytest.fixture
def producer(client: RawClient, topic: str) -> RawProducer:
    producer = RawProducer(client, topic)
    producer.init()
    return producer


def test_an_open_transaction_is_not_read(
    client: RawClient, producer: RawProducer, created: Topic
) -> None:
    assert producer.send(created, b"a", b"b").error_code is ErrorCode.none
    answer = fetched(client, created)
    assert answer.last_stable_offset == 0
    assert answer.high_watermark == 2
    assert not answer.records
    assert answer.aborted_transactions == ()
    assert committed_end(client, created) == 0
    assert list_offset(client, created, LATEST).offset == 2

    assert producer.end(committed=True).error_code is ErrorCode.none
    wait_for_end(client, created, 3)
    answer = fetched(client, created)
    assert answer.last_stable_offset == 3
    assert values_in(answer.records)[:2] == [(0, b"a"), (1, b"b")]


def test_each_end_gives_the_next_epoch(producer: RawProducer, created: Topic) -> None:
    who = producer.producer_id
    for round_ in range(1, 4):
        producer.send(created, b"x")
        assert producer.end(committed=round_ % 2 == 0).error_code is ErrorCode.none
        assert (producer.producer_id, producer.epoch) == (who, round_)


def test_aborted_records_are_named(
    client: RawClient, producer: RawProducer, created: Topic
) -> None:
    plain = RawProducer(client)
    plain.init()
    plain.send(created, b"before")  # 0
    producer.send(created, b"never")  # 1
    plain.send(created, b"between")  # 2
    producer.end(committed=False)  # marker at 3
    wait_for_end(client, created, 4)
    producer.send(created, b"after")  # 4
    producer.end(committed=True)  # marker at 5
    wait_for_end(client, created, 6)
    answer = fetched(client, created)
    assert [(t.producer_id, t.first_offset) for t in answer.aborted_transactions] == [
        (producer.producer_id, 1)
    ]


@pytest.mark.parametrize("version", range(4, 19))
def test_every_version_of_fetch_reads_committed_records(
    client: RawClient, producer: RawProducer, created: Topic, version: int
) -> None:
    producer.send(created, b"never")
    producer.end(committed=False)
    wait_for_end(client, created, 2)
    producer.send(created, b"open")
    answer = fetched(client, created, version=version)
    assert answer.last_stable_offset == 2
    assert len(answer.aborted_transactions) == 1


def test_old_clients_add_partitions_and_keep_their_epoch(
    client: RawClient, producer: RawProducer, created: Topic
) -> None:
    for round_ in range(3):
        added = producer.add_partitions({created.name: [0]})
        assert added == {(created.name, 0): ErrorCode.none}
        assert producer.send(created, b"x", version=OLD_CLIENT).error_code is ErrorCode.none
        answer = producer.end(committed=True, version=4)
        assert answer.error_code is ErrorCode.none
        wait_for_end(client, created, 2 * round_ + 2)
        assert producer.epoch == 0


@pytest.mark.parametrize("version", range(4))
def test_every_client_version_of_add_partitions(
    producer: RawProducer, created: Topic, version: int
) -> None:
    added = producer.add_partitions({created.name: [0]}, version)
    assert added == {(created.name, 0): ErrorCode.none}


@pytest.mark.parametrize("version", range(6))
def test_every_version_of_end(
    client: RawClient, producer: RawProducer, created: Topic, version: int
) -> None:
    producer.add_partitions({created.name: [0]})
    producer.send(created, b"x", version=OLD_CLIENT)
    assert producer.end(committed=True, version=version).error_code is ErrorCode.none
    wait_for_end(client, created, 2)


@pytest.mark.parametrize(
    ("version", "code"),
    [(10, ErrorCode.invalid_txn_state), (11, ErrorCode.transaction_abortable)],
)
def test_old_clients_may_not_write_elsewhere(
    producer: RawProducer, created: Topic, version: int, code: ErrorCode
) -> None:
    assert producer.send(created, b"x", version=version).error_code is code


def test_partitions_that_do_not_exist(producer: RawProducer, created: Topic) -> None:
    added = producer.add_partitions({created.name: [0, 7], "no-such-topic": [0]})
    assert added == {
        (created.name, 0): ErrorCode.operation_not_attempted,
        (created.name, 7): ErrorCode.unknown_topic_or_partition,
        ("no-such-topic", 0): ErrorCode.unknown_topic_or_partition,
    }


def test_partitions_can_be_checked_without_being_added(
    producer: RawProducer, created: Topic
) -> None:
    place = (created.name, 0)
    check = {created.name: [0]}
    added = producer.add_partitions(check, 5, verify_only=True)
    assert added == {place: ErrorCode.transaction_abortable}
    producer.add_partitions(check)
    assert producer.add_partitions(check, 5, verify_only=True) == {place: ErrorCode.none}
    assert producer.add_partitions(check, 4) == {place: ErrorCode.none}


def test_a_stranger_gets_nowhere(client: RawClient, producer: RawProducer, created: Topic) -> None:
    producer.send(created, b"x")
    wrong_id = {"producer_id": producer.producer_id + 1000}
    wrong_epoch = {"producer_epoch": producer.epoch + 1}
    answer = producer.end(committed=True, **wrong_id)
    assert answer.error_code is ErrorCode.invalid_producer_id_mapping
    assert producer.end(committed=True, **wrong_epoch).error_code is ErrorCode.producer_fenced
    answer = producer.end(committed=True, version=1, **wrong_epoch)
    assert answer.error_code is ErrorCode.invalid_producer_epoch
    place = (created.name, 0)
    added = producer.add_partitions({created.name: [0]}, **wrong_id)
    assert added == {place: ErrorCode.invalid_producer_id_mapping}
    added = producer.add_partitions({created.name: [0]}, **wrong_epoch)
    assert added == {place: ErrorCode.producer_fenced}
    added = producer.add_partitions({created.name: [0]}, 1, **wrong_epoch)
    assert added == {place: ErrorCode.invalid_producer_epoch}
    added = producer.add_partitions({created.name: [0]}, transactional_id="nobody's")
    assert added == {place: ErrorCode.invalid_producer_id_mapping}
    answer = client.call(
        "end_txn",
        5,
        transactional_id="nobody's",
        producer_id=1,
        producer_epoch=0,
        committed=True,
    )
    assert answer.error_code is ErrorCode.invalid_producer_id_mapping
    answer = RawProducer(client, "").call("end_txn", 5, committed=True)
    assert answer.error_code is ErrorCode.invalid_request


def test_what_has_not_begun_can_only_be_aborted_by_new_clients(producer: RawProducer) -> None:
    assert producer.end(committed=True).error_code is ErrorCode.invalid_txn_state
    for committed in (True, False):
        answer = producer.end(committed=committed, version=4)
        assert answer.error_code is ErrorCode.invalid_txn_state
    answer = producer.end(committed=False)
    assert (answer.error_code, answer.producer_epoch) == (ErrorCode.none, 1)


def test_an_end_that_is_asked_for_again_has_the_same_answer(
    client: RawClient, producer: RawProducer, created: Topic
) -> None:
    producer.send(created, b"x")
    producer.end(committed=True)
    wait_for_end(client, created, 2)
    wait_for_state(client, created.name, "CompleteCommit")
    answer = producer.end(committed=True, producer_epoch=0)
    assert (answer.error_code, answer.producer_epoch) == (ErrorCode.none, 1)
    answer = producer.end(committed=False, producer_epoch=0)
    assert answer.error_code is ErrorCode.invalid_txn_state


def test_a_second_producer_fences_the_first(
    client: RawClient, producer: RawProducer, created: Topic
) -> None:
    producer.send(created, b"lost")
    second = RawProducer(client, producer.transactional_id)
    second.init()
    assert second.producer_id == producer.producer_id
    assert second.epoch == producer.epoch + 2  # one for the abort, one for the new producer
    wait_for_end(client, created, 2)
    answer = fetched(client, created)
    assert [t.first_offset for t in answer.aborted_transactions] == [0]

    assert producer.send(created, b"late").error_code is ErrorCode.invalid_producer_epoch
    assert producer.end(committed=True).error_code is ErrorCode.producer_fenced
    added = producer.add_partitions({created.name: [0]})
    assert added == {(created.name, 0): ErrorCode.producer_fenced}
    expected = (producer.producer_id, producer.epoch)
    assert producer.init(5, expected=expected).error_code is ErrorCode.producer_fenced
    assert producer.init(3, expected=expected).error_code is ErrorCode.invalid_producer_epoch

    assert second.send(created, b"kept").error_code is ErrorCode.none
    assert second.end(committed=True).error_code is ErrorCode.none


def test_a_producer_can_bump_its_own_epoch(producer: RawProducer) -> None:
    who = producer.producer_id
    for _ in range(2):  # the second time the first answer got lost
        answer = producer.init(expected=(who, 0))
        assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (
            ErrorCode.none,
            who,
            1,
        )


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"transactional_id": ""}, ErrorCode.invalid_request),
        ({"transaction_timeout": 0}, ErrorCode.invalid_transaction_timeout),
        ({"transaction_timeout": 900_001}, ErrorCode.invalid_transaction_timeout),
        ({"producer_id": 5}, ErrorCode.invalid_request),
        ({"producer_epoch": 5}, ErrorCode.invalid_request),
    ],
)
def test_bad_requests_for_a_producer_id(
    client: RawClient, producer: RawProducer, body: dict[str, Any], code: ErrorCode
) -> None:
    wanted = {
        "transactional_id": producer.transactional_id,
        "transaction_timeout": 60_000,
        "producer_id": -1,
        "producer_epoch": -1,
    }
    answer = client.call("init_producer_id", 5, **(wanted | body))
    assert answer.error_code is code


def test_a_transactional_batch_without_a_transactional_id(
    client: RawClient, producer: RawProducer, created: Topic
) -> None:
    batch = batch_of(
        [b"x"], producer_id=producer.producer_id, epoch=0, sequence=0, transactional=True
    )
    answer = produce(client, created, batch)
    assert answer.error_code is ErrorCode.transactional_id_authorization_failed


def test_a_new_client_begins_every_epoch_at_zero(producer: RawProducer, created: Topic) -> None:
    answer = producer.send(created, b"x", sequence=3)
    assert answer.error_code is ErrorCode.out_of_order_sequence_number
    producer.end(committed=False)
    assert producer.send(created, b"x").error_code is ErrorCode.none


def test_transactions_end_in_all_partitions(
    client: RawClient, producer: RawProducer, topic: str
) -> None:
    wide = create_topic(client, topic, partitions=3)
    for partition in range(3):
        producer.send(wide, b"x", partition=partition)
    producer.end(committed=True)
    for partition in range(3):
        wait_for(
            partial(fetched, client, wide, partition=partition),
            until=lambda found: found.last_stable_offset >= 2,
        )


def test_transactions_are_described(
    client: RawClient, producer: RawProducer, created: Topic
) -> None:
    producer.send(created, b"x")
    state = describe(client, created.name)
    assert state.error_code is ErrorCode.none
    assert state.transaction_state == "Ongoing"
    assert (state.producer_id, state.producer_epoch) == (producer.producer_id, 0)
    assert [(t.topic, t.partitions) for t in state.topics] == [(created.name, (0,))]
    missing = describe(client, "nobody's")
    assert missing.error_code is ErrorCode.transactional_id_not_found
    assert describe(client, "").error_code is ErrorCode.invalid_request


@pytest.mark.parametrize("version", range(3))
def test_transactions_are_listed(
    client: RawClient, producer: RawProducer, created: Topic, version: int
) -> None:
    idle = RawProducer(client, f"{created.name}-idle")
    idle.init()
    producer.send(created, b"x")

    def listed(**filters: Any) -> dict[str, str]:
        answer = client.call("list_transactions", version, **filters)
        assert answer.error_code is ErrorCode.none
        return {
            state.transactional_id: state.transaction_state
            for state in answer.transaction_states
            if state.transactional_id.startswith(created.name)
        }

    everything = {created.name: "Ongoing", f"{created.name}-idle": "Empty"}
    assert listed() == everything
    assert listed(state_filters=["Ongoing"]) == {created.name: "Ongoing"}
    assert listed(producer_id_filters=[producer.producer_id]) == {created.name: "Ongoing"}
    if version >= 1:
        assert created.name not in listed(duration_filter=3_600_000)
    if version >= 2:
        assert list(listed(transactional_id_pattern=".*-idle")) == [f"{created.name}-idle"]
        answer = client.call("list_transactions", version, transactional_id_pattern="(")
        assert answer.error_code is ErrorCode.invalid_regular_expression
    answer = client.call("list_transactions", version, state_filters=["Ongoing", "Asleep"])
    assert answer.unknown_state_filters == ("Asleep",)


def test_producers_are_described(client: RawClient, producer: RawProducer, created: Topic) -> None:
    producer.send(created, b"a", b"b")
    answer = client.call(
        "describe_producers",
        0,
        topics=[
            {"name": created.name, "partition_indexes": [0, 9]},
            {"name": "no-such-topic", "partition_indexes": [0]},
        ],
    )
    here, elsewhere = answer.topics[0].partitions
    (active,) = here.active_producers
    assert (active.producer_id, active.producer_epoch) == (producer.producer_id, 0)
    assert (active.last_sequence, active.current_txn_start_offset) == (1, 0)
    assert active.coordinator_epoch == -1
    assert elsewhere.error_code is ErrorCode.unknown_topic_or_partition
    missing = answer.topics[1].partitions[0]
    assert missing.error_code is ErrorCode.unknown_topic_or_partition


def test_an_operator_can_abort_what_hangs(
    client: RawClient, producer: RawProducer, created: Topic
) -> None:
    producer.send(created, b"x")
    answer = client.call(
        "write_txn_markers",
        1,
        markers=[
            {
                "producer_id": producer.producer_id,
                "producer_epoch": producer.epoch,
                "transaction_result": False,
                "coordinator_epoch": 0,
                "topics": [{"name": created.name, "partition_indexes": [0]}],
            }
        ],
    )
    assert answer.markers[0].topics[0].partitions[0].error_code is ErrorCode.none
    wait_for_end(client, created, 2)
    assert [t.first_offset for t in fetched(client, created).aborted_transactions] == [0]


def test_transaction_version_2_is_announced(client: RawClient) -> None:
    for version in (3, 4):
        answer = client.call(
            "api_versions", version, client_software_name="raw", client_software_version="1"
        )
        levels = {
            feature.name: (feature.min_version_level, feature.max_version_level)
            for feature in answer.finalized_features
        }
        assert levels["transaction.version"] == (2, 2)
        assert answer.finalized_features_epoch >= 0
    supported = {each.name: each.max_version for each in answer.supported_features}
    assert supported["transaction.version"] == 2


def test_a_deleted_topic_does_not_keep_a_transaction_open(
    client: RawClient, producer: RawProducer, created: Topic
) -> None:
    doomed = create_topic(client, f"{created.name}-doomed")
    producer.send(doomed, b"gone")
    producer.send(created, b"kept")
    delete_topic(client, doomed)
    assert producer.end(committed=True).error_code is ErrorCode.none
    wait_for_end(client, created, 2)
    assert producer.send(created, b"next").error_code is ErrorCode.none
