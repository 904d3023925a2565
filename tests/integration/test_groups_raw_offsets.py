"""Commits, their look-up and their end over the wire, with every refusal."""

from __future__ import annotations

import operator
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from kio.schema.errors import ErrorCode
from tests.integration.raw_client import RawClient
from tests.integration.raw_groups import (
    commit,
    committed,
    fresh_group,
    join,
    join_body,
    leave,
    quick_broker,
    stable_member,
    subscription,
    wait_until_rebalancing,
)
from tests.integration.raw_requests import Topic, create_topic, delete_topic
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.broker_process import BrokerProcess

COMMIT_VERSIONS = range(2, 11)
FETCH_VERSIONS = range(1, 10)
NO_SUCH_ID = uuid.UUID(int=77)
NONE = ErrorCode.none


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    yield from quick_broker(tmp_path_factory)


@pytest.fixture
def group() -> str:
    return fresh_group()


@pytest.fixture
def created(client: RawClient, topic: str) -> Topic:
    return create_topic(client, topic, partitions=2)


def offset_of(answer: Any) -> tuple[int, int, str]:
    return answer.committed_offset, answer.committed_leader_epoch, answer.metadata


# -- commit and fetch


@pytest.mark.parametrize("version", COMMIT_VERSIONS)
def test_commits_in_every_version(
    client: RawClient, group: str, created: Topic, version: int
) -> None:
    done = commit(
        client,
        group,
        {(created.name, 0): 5, (created.name, 1): 0},
        version=version,
        metadata="some words",
        leader_epoch=3,
        topic_ids={created.name: created.id},
    )
    assert done == {(created.name, 0): NONE, (created.name, 1): NONE}
    found = committed(client, group, {created.name: (0, 1)})
    epoch = 3 if version >= 6 else -1
    assert offset_of(found[created.name, 0]) == (5, epoch, "some words")
    assert offset_of(found[created.name, 1]) == (0, epoch, "some words")


@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_fetches_in_every_version(
    client: RawClient, group: str, created: Topic, version: int
) -> None:
    commit(client, group, {(created.name, 0): 5}, metadata="m", leader_epoch=0)
    found = committed(client, group, {created.name: (0, 1)}, version=version)
    one, two = found[created.name, 0], found[created.name, 1]
    assert (one.committed_offset, one.metadata, one.error_code) == (5, "m", NONE)
    assert (two.committed_offset, two.metadata, two.error_code) == (-1, "", NONE)
    if version >= 5:
        assert (one.committed_leader_epoch, two.committed_leader_epoch) == (0, -1)
    if version >= 2:
        everything = committed(client, group, None, version=version)
        assert list(everything) == [(created.name, 0)]


def test_fetches_by_topic_id(client: RawClient, group: str, created: Topic) -> None:
    commit(client, group, {(created.name, 0): 5})
    wanted = [
        {"topic_id": created.id, "partition_indexes": [0, 9]},
        {"topic_id": NO_SUCH_ID, "partition_indexes": [0]},
    ]
    answer = client.call(
        "offset_fetch",
        10,
        groups=[{"group_id": group, "topics": wanted}, {"group_id": group, "topics": None}],
    )
    named, everything = answer.groups
    found = {topic.topic_id: topic.partitions for topic in named.topics}
    assert [(p.committed_offset, p.error_code) for p in found[created.id]] == [
        (5, NONE),
        (-1, NONE),
    ]
    assert [p.error_code for p in found[NO_SUCH_ID]] == [ErrorCode.unknown_topic_id]
    assert [topic.topic_id for topic in everything.topics] == [created.id]


def test_several_groups_are_fetched_at_once(client: RawClient, created: Topic) -> None:
    groups = [fresh_group() for _ in range(4)]
    for number, group in enumerate(groups):
        commit(client, group, {(created.name, 0): number})
    answer = client.call(
        "offset_fetch", 8, groups=[{"group_id": group, "topics": None} for group in groups]
    )
    assert [
        (one.group_id, one.topics[0].partitions[0].committed_offset) for one in answer.groups
    ] == list(zip(groups, range(4), strict=True))


def test_a_later_commit_wins_also_with_a_smaller_offset(
    client: RawClient, group: str, created: Topic
) -> None:
    for offset in (5, 9, 2):
        commit(client, group, {(created.name, 0): offset})
    assert offset_of(committed(client, group, {created.name: (0,)})[created.name, 0])[0] == 2


def test_many_commits_in_flight_are_all_answered_in_order(
    client: RawClient, group: str, created: Topic
) -> None:
    body: dict[str, Any] = {
        "group_id": group,
        "generation_id_or_member_epoch": -1,
        "member_id": "",
    }
    for offset in range(200):
        partition = {"partition_index": 0, "committed_offset": offset, "committed_metadata": ""}
        topics = [{"name": created.name, "partitions": [partition]}]
        client.send("offset_commit", 8, **body, topics=topics)
    for _ in range(200):
        assert client.receive().topics[0].partitions[0].error_code is NONE
    found = committed(client, group, {created.name: (0,)})
    assert found[created.name, 0].committed_offset == 199


def test_what_nobody_committed_has_no_offset(client: RawClient, created: Topic) -> None:
    found = committed(client, fresh_group(), {created.name: (0,), "no-such-topic": (3,)})
    assert {key: one.committed_offset for key, one in found.items()} == {
        (created.name, 0): -1,
        ("no-such-topic", 3): -1,
    }
    assert committed(client, fresh_group(), None) == {}


def test_negative_offsets_are_taken_as_kafka_takes_them(
    client: RawClient, group: str, created: Topic
) -> None:
    assert commit(client, group, {(created.name, 0): -5}) == {(created.name, 0): NONE}
    assert committed(client, group, {created.name: (0,)})[created.name, 0].committed_offset == -5


# -- refusals


def test_commits_to_partitions_that_are_not_there(
    client: RawClient, group: str, created: Topic
) -> None:
    unknown = ErrorCode.unknown_topic_or_partition
    done = commit(
        client,
        group,
        {("no-such", 0): 1, (created.name, 0): 7, (created.name, 2): 1, (created.name, -1): 1},
    )
    assert done == {
        ("no-such", 0): unknown,
        (created.name, 0): NONE,
        (created.name, 2): unknown,
        (created.name, -1): unknown,
    }
    by_id = commit(
        client,
        group,
        {(created.name, 0): 8, ("no-such", 0): 1},
        version=10,
        topic_ids={created.name: created.id, "no-such": NO_SUCH_ID},
    )
    assert by_id == {(created.name, 0): NONE, ("no-such", 0): ErrorCode.unknown_topic_id}


def test_metadata_has_a_largest_size(client: RawClient, group: str, created: Topic) -> None:
    place = (created.name, 0)
    assert commit(client, group, {place: 5}, metadata="x" * 4096)[place] is NONE
    too_large = commit(client, group, {place: 6}, metadata="x" * 4097)[place]
    assert too_large is ErrorCode.offset_metadata_too_large
    assert committed(client, group, {created.name: (0,)})[place].committed_offset == 5


def test_commits_without_metadata(client: RawClient, group: str, created: Topic) -> None:
    place = (created.name, 0)
    assert commit(client, group, {place: 5}, metadata=None)[place] is NONE
    assert committed(client, group, {created.name: (0,)})[place].metadata == ""


def test_commits_of_those_who_have_no_say(client: RawClient, group: str, created: Topic) -> None:
    place = (created.name, 0)
    me = stable_member(client, group).member_id

    def error(**who: Any) -> ErrorCode:
        return commit(client, group, {place: 1}, **who)[place]

    assert error(member=me, generation=1) is NONE
    assert error(member=me, generation=2) is ErrorCode.illegal_generation
    assert error(member=me, generation=-1) is ErrorCode.illegal_generation
    assert error(member="nobody", generation=1) is ErrorCode.unknown_member_id
    assert error() is ErrorCode.unknown_member_id
    assert error(member=me, generation=1, instance="i") is ErrorCode.unknown_member_id
    assert leave(client, group, me) is NONE
    assert error(member=me, generation=1) is ErrorCode.unknown_member_id
    assert error() is NONE


def test_a_generation_of_no_group(client: RawClient, created: Topic) -> None:
    place = (created.name, 0)
    older = commit(client, fresh_group(), {place: 1}, version=8, member="m", generation=3)
    newer = commit(client, fresh_group(), {place: 1}, version=9, member="m", generation=3)
    assert older == {place: ErrorCode.illegal_generation}
    assert newer == {place: ErrorCode.group_id_not_found}


def test_commits_while_the_group_rebalances(
    client: RawClient, broker: BrokerProcess, group: str, created: Topic
) -> None:
    place = (created.name, 0)
    one = stable_member(client, group).member_id
    with RawClient(broker) as other:
        two = other.call("join_group", 9, **join_body(group)).member_id
        other.send("join_group", 9, **join_body(group, two))
        wait_until_rebalancing(client, group, one)
        # A last commit before the partitions go, which everybody wants to make.
        assert commit(client, group, {place: 6}, member=one, generation=1)[place] is NONE
        join(client, group, one)
        other.receive()
        refused = commit(client, group, {place: 7}, member=one, generation=2)[place]
        assert refused is ErrorCode.rebalance_in_progress
    assert committed(client, group, {created.name: (0,)})[place].committed_offset == 6


def test_a_fenced_static_member_cannot_commit(
    client: RawClient, group: str, created: Topic
) -> None:
    place = (created.name, 0)
    old = stable_member(client, group, instance="alpha").member_id
    join(client, group, instance="alpha")
    refused = commit(client, group, {place: 1}, member=old, generation=1, instance="alpha")
    assert refused[place] is ErrorCode.fenced_instance_id


def test_the_group_without_a_name_keeps_offsets(client: RawClient, created: Topic) -> None:
    place = (created.name, 0)
    assert commit(client, "", {place: 5})[place] is NONE
    assert committed(client, "", {created.name: (0,)})[place].committed_offset == 5


# -- forgetting


def test_offsets_are_deleted(client: RawClient, group: str, created: Topic) -> None:
    commit(client, group, {(created.name, 0): 5, (created.name, 1): 6})
    answer = client.call(
        "offset_delete",
        0,
        group_id=group,
        topics=[
            {"name": created.name, "partitions": [{"partition_index": 0}, {"partition_index": 9}]},
            {"name": "no-such", "partitions": [{"partition_index": 0}]},
        ],
    )
    assert answer.error_code is NONE
    unknown = ErrorCode.unknown_topic_or_partition
    errors = {
        (topic.name, one.partition_index): one.error_code
        for topic in answer.topics
        for one in topic.partitions
    }
    assert errors == {
        (created.name, 0): NONE,
        (created.name, 9): unknown,
        ("no-such", 0): unknown,
    }
    assert list(committed(client, group, None)) == [(created.name, 1)]


def test_offsets_that_members_need_stay(client: RawClient, group: str, created: Topic) -> None:
    wanted = ({"name": "range", "metadata": subscription(created.name)},)
    stable_member(client, group, protocols=wanted)
    topics = [{"name": created.name, "partitions": [{"partition_index": 0}]}]
    answer = client.call("offset_delete", 0, group_id=group, topics=topics)
    assert answer.topics[0].partitions[0].error_code is ErrorCode.group_subscribed_to_topic
    connect = fresh_group("connect")
    stable_member(
        client, connect, protocol_type="connect", protocols=({"name": "x", "metadata": b"x"},)
    )
    answer = client.call("offset_delete", 0, group_id=connect, topics=topics)
    assert answer.error_code is ErrorCode.non_empty_group
    answer = client.call("offset_delete", 0, group_id=fresh_group(), topics=topics)
    assert answer.error_code is ErrorCode.group_id_not_found
    answer = client.call("offset_delete", 0, group_id="", topics=topics)
    assert answer.error_code is ErrorCode.invalid_group_id


def test_the_offsets_of_a_deleted_topic_go_with_it(
    client: RawClient, group: str, created: Topic
) -> None:
    commit(client, group, {(created.name, 0): 5})
    delete_topic(client, created)
    wait_for(lambda: committed(client, group, None), until=operator.not_)
    assert committed(client, group, {created.name: (0,)})[created.name, 0].committed_offset == -1


def test_offsets_expire(tmp_path_factory: pytest.TempPathFactory) -> None:
    quick = {"offsets.retention.check.interval.ms": "100"}
    for process in quick_broker(tmp_path_factory, **quick):
        with RawClient(process) as client:
            topic = create_topic(client, "expiring")
            place = (topic.name, 0)
            # Only old clients say how long an offset lives; it saves us waiting for a week.
            commit(client, "old", {place: 5}, version=3, retention_ms=300)
            commit(client, "new", {place: 6}, version=9)
            wait_for(lambda: committed(client, "old", None), until=operator.not_)
            assert committed(client, "new", None)[place].committed_offset == 6
            wait_for(
                lambda: [one.group_id for one in client.call("list_groups", 5).groups],
                until=lambda groups: "old" not in groups,
            )
