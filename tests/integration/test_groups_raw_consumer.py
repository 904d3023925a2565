"""The new group protocol over the wire: reconciliation, epochs, static members, refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from kio.schema.errors import ErrorCode
from tests.integration.raw_consumer_groups import (
    Beat,
    beat,
    describe_consumer_group,
    enter,
    held_by,
    wait_until_left,
)
from tests.integration.raw_groups import (
    commit,
    committed,
    describe,
    fresh_group,
    heartbeat,
    leave,
    quick_broker,
    sync,
)
from tests.integration.raw_requests import Topic, create_topic, delete_topic
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.broker_process import BrokerProcess
    from tests.integration.raw_client import RawClient

NONE = ErrorCode.none
INVALID = ErrorCode.invalid_request


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    yield from quick_broker(tmp_path_factory)


@pytest.fixture
def group() -> str:
    return fresh_group()


@pytest.fixture
def created(client: RawClient, topic: str) -> Topic:
    return create_topic(client, topic, partitions=4)


# -- refusals that need no group


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"rebalance_timeout": -1}, INVALID),
        ({"owned": None}, INVALID),
        ({"subscribed_topic_names": None}, INVALID),
        ({"instance_id": ""}, INVALID),
        ({"rack_id": ""}, INVALID),
        ({"server_assignor": "no-such"}, ErrorCode.unsupported_assignor),
        ({"subscribed_topic_regex": "[a"}, ErrorCode.invalid_regular_expression),
    ],
)
def test_a_join_must_make_sense(
    client: RawClient, group: str, created: Topic, fields: dict[str, Any], error: ErrorCode
) -> None:
    answer = enter(client, group, "m", [created], **fields)
    assert answer.error is error
    assert answer.message


def test_a_join_with_partitions_is_refused(client: RawClient, group: str, created: Topic) -> None:
    assert enter(client, group, "m", [created], owned={created: [0]}).error is INVALID


def test_a_heartbeat_must_make_sense(client: RawClient, group: str, created: Topic) -> None:
    assert enter(client, "", "m", [created]).error is INVALID
    assert enter(client, group, "", [created]).error is INVALID
    assert beat(client, group, "m", -3).error is INVALID
    assert beat(client, group, "m", -2).error is INVALID
    assert beat(client, group, "", 3).error is INVALID


def test_a_group_that_is_not_there(client: RawClient, group: str) -> None:
    assert beat(client, group, "m", 3).error is ErrorCode.group_id_not_found
    assert beat(client, group, "m", -1).error is ErrorCode.group_id_not_found
    assert describe_consumer_group(client, group).error_code is ErrorCode.group_id_not_found


def test_an_older_member_is_given_an_id(client: RawClient, group: str, created: Topic) -> None:
    answer = enter(client, group, "", [created], version=0)
    assert (answer.error, answer.epoch) == (NONE, 2)
    assert answer.member
    assert beat(client, group, answer.member, 2, version=0).error is NONE


# -- joining and reconciling


def test_a_first_member_gets_everything(client: RawClient, group: str, created: Topic) -> None:
    answer = enter(client, group, "one", [created])
    assert answer == Beat(NONE, 2, {created.id: [0, 1, 2, 3]}, "one", None)
    assert beat(client, group, "one", 2) == Beat(NONE, 2, None, "one", None)
    described = describe_consumer_group(client, group)
    assert (described.group_state, described.group_epoch, described.assignment_epoch) == (
        "Stable",
        2,
        2,
    )
    assert described.assignor_name == "uniform"
    (member,) = described.members
    assert (member.member_id, member.member_epoch, member.client_id, member.client_host) == (
        "one",
        2,
        "raw",
        "/127.0.0.1",
    )
    assert (member.subscribed_topic_names, member.member_type) == ((created.name,), 1)
    assert held_by(described) == {"one": {created.name: [0, 1, 2, 3]}}


def test_a_second_member_gets_what_the_first_gives_up(
    client: RawClient, group: str, created: Topic
) -> None:
    enter(client, group, "one", [created])
    two = enter(client, group, "two", [created])
    assert (two.epoch, two.held) == (3, {})
    asked = beat(client, group, "one", 2, owned={created: [0, 1, 2, 3]})
    assert (asked.epoch, asked.held) == (2, {created.id: [0, 1]})
    assert describe_consumer_group(client, group).group_state == "Reconciling"
    # As long as the first still has them, the second waits.
    assert beat(client, group, "two", 3, owned={}).held is None
    assert beat(client, group, "one", 2, owned={created: [0, 1, 3]}).epoch == 2
    assert beat(client, group, "two", 3, owned={}).held is None
    done = beat(client, group, "one", 2, owned={created: [0, 1]})
    assert (done.epoch, done.held) == (3, None)
    assert beat(client, group, "two", 3, owned={}).held == {created.id: [2, 3]}
    described = describe_consumer_group(client, group)
    assert described.group_state == "Stable"
    assert held_by(described) == {"one": {created.name: [0, 1]}, "two": {created.name: [2, 3]}}


def test_who_is_told_less_often_gets_the_same_in_the_end(
    client: RawClient, group: str, created: Topic
) -> None:
    epochs = {name: enter(client, group, name, [created]).epoch for name in "abcd"}
    owned: dict[str, list[int]] = {"a": [0, 1, 2, 3], "b": [], "c": [], "d": []}

    def state_after_beats() -> str:
        for name in owned:
            answer = beat(client, group, name, epochs[name], owned={created: owned[name]})
            assert answer.error is NONE
            epochs[name] = answer.epoch
            if answer.held is not None:
                owned[name] = answer.held.get(created.id, [])
        return str(describe_consumer_group(client, group).group_state)

    wait_for(state_after_beats, until=lambda state: state == "Stable")
    assert sorted(partition for mine in owned.values() for partition in mine) == [0, 1, 2, 3]
    assert all(len(mine) == 1 for mine in owned.values())


def test_a_member_that_leaves_makes_room(client: RawClient, group: str, created: Topic) -> None:
    enter(client, group, "one", [created])
    enter(client, group, "two", [created])
    assert beat(client, group, "one", -1) == Beat(NONE, -1, None, "one", None)
    assert beat(client, group, "one", -1).error is ErrorCode.unknown_member_id
    assert describe_consumer_group(client, group).group_state == "Assigning"
    answer = beat(client, group, "two", 3, owned={})
    assert (answer.epoch, answer.held) == (4, {created.id: [0, 1, 2, 3]})
    beat(client, group, "two", -1)
    described = describe_consumer_group(client, group)
    assert (described.group_state, described.group_epoch) == ("Empty", 5)


def test_a_lost_answer_does_no_harm(client: RawClient, group: str, created: Topic) -> None:
    enter(client, group, "one", [created])
    again = enter(client, group, "one", [created])
    assert (again.epoch, again.held) == (2, {created.id: [0, 1, 2, 3]})
    enter(client, group, "two", [created])
    beat(client, group, "one", 2, owned={created: [0, 1, 2, 3]})
    assert beat(client, group, "one", 2, owned={created: [0, 1]}).epoch == 3
    # The member has not seen that it is in epoch 3.
    assert beat(client, group, "one", 2, owned={created: [0]}).epoch == 3
    fenced = beat(client, group, "one", 2, owned={created: [0, 1, 2]})
    assert fenced.error is ErrorCode.fenced_member_epoch


@pytest.mark.parametrize("epoch", [1, 3])
def test_another_epoch_is_fenced(client: RawClient, group: str, created: Topic, epoch: int) -> None:
    enter(client, group, "one", [created])
    assert beat(client, group, "one", epoch).error is ErrorCode.fenced_member_epoch
    assert beat(client, group, "nobody", 2).error is ErrorCode.unknown_member_id


def test_other_topics_are_another_epoch(
    client: RawClient, group: str, created: Topic, topic: str
) -> None:
    second = create_topic(client, f"{topic}-2", partitions=1)
    enter(client, group, "one", [created])
    both = [created.name, second.name]
    answer = beat(client, group, "one", 2, subscribed_topic_names=both)
    assert (answer.epoch, answer.held) == (3, {created.id: [0, 1, 2, 3], second.id: [0]})
    fewer = beat(client, group, "one", 3, subscribed_topic_names=[second.name])
    assert fewer.held == {second.id: [0]}


def test_topics_that_come_and_grow_and_go(client: RawClient, group: str, topic: str) -> None:
    answer = enter(client, group, "one", None, subscribed_topic_names=[topic])
    assert (answer.epoch, answer.held) == (2, {})
    created = create_topic(client, topic, partitions=1)

    def until_told(epoch: int) -> Beat:
        return wait_for(
            lambda: beat(client, group, "one", epoch), until=lambda told: told.held is not None
        )

    assert until_told(2)[1:3] == (3, {created.id: [0]})
    client.call("create_partitions", 3, topics=[{"name": topic, "count": 3}], timeout=30_000)
    assert until_told(3)[1:3] == (4, {created.id: [0, 1, 2]})
    delete_topic(client, created)
    answer = beat(client, group, "one", 4)
    if not answer.held and answer.epoch == 4:
        wait_for(
            lambda: beat(client, group, "one", 4, owned={}),
            until=lambda told: told.held or told.epoch != 4,
        )
    assert describe_consumer_group(client, group).group_epoch == 5


def test_a_member_without_topics_is_a_member(client: RawClient, group: str) -> None:
    answer = enter(client, group, "one", [])
    assert (answer.error, answer.epoch, answer.held) == (NONE, 1, {})


def test_the_range_assignor_cuts_all_topics_alike(
    client: RawClient, group: str, created: Topic, topic: str
) -> None:
    second = create_topic(client, f"{topic}-2", partitions=4)
    topics = [created, second]
    enter(client, group, "a", topics, server_assignor="range")
    enter(client, group, "b", topics, server_assignor="range")
    described = describe_consumer_group(client, group)
    assert described.assignor_name == "range"
    targets = {
        member.member_id: {
            part.topic_name: sorted(part.partitions)
            for part in member.target_assignment.topic_partitions
        }
        for member in described.members
    }
    assert targets == {
        "a": {created.name: [0, 1], second.name: [0, 1]},
        "b": {created.name: [2, 3], second.name: [2, 3]},
    }


def test_a_regular_expression_finds_its_topics(client: RawClient, group: str, topic: str) -> None:
    first = create_topic(client, f"{topic}.a", partitions=1)
    create_topic(client, f"not-{topic}.a")
    regex = topic.replace("-", "[-]") + "[.].*"

    def until_held(epoch: int, *wanted: Topic) -> int:
        held: dict[Any, list[int]] = {}

        def holds() -> bool:
            nonlocal epoch, held
            answer = beat(client, group, "one", epoch)
            assert answer.error is NONE
            epoch = answer.epoch
            held = held if answer.held is None else answer.held
            return held.keys() == {one.id for one in wanted}

        wait_for(holds, lambda: f"{wanted} should be held, {held} is")
        return epoch

    joined = enter(client, group, "one", None, subscribed_topic_regex=regex)
    epoch = joined.epoch
    if not joined.held:
        epoch = until_held(epoch, first)
    (member,) = describe_consumer_group(client, group).members
    assert (member.subscribed_topic_regex, member.subscribed_topic_names) == (regex, ())
    second = create_topic(client, f"{topic}.b", partitions=1)
    epoch = until_held(epoch, first, second)
    dropped = beat(
        client, group, "one", epoch, subscribed_topic_regex="", subscribed_topic_names=[first.name]
    )
    assert dropped.held == {first.id: [0]}


# -- timeouts


def test_a_silent_member_is_put_out(client: RawClient, group: str, created: Topic) -> None:
    enter(client, group, "one", [created])
    wait_until_left(client, group)
    assert beat(client, group, "one", 2).error is ErrorCode.unknown_member_id


def test_a_member_that_gives_nothing_up_is_put_out(
    client: RawClient, group: str, created: Topic
) -> None:
    enter(client, group, "one", [created], rebalance_timeout=300)
    two = enter(client, group, "two", [created])

    def held() -> Any:
        nonlocal two
        if not two.held:
            beat(client, group, "one", 2, owned={created: [0, 1, 2, 3]})
            two = beat(client, group, "two", two.epoch, owned={})
        return two.held

    assert wait_for(held) == {created.id: [0, 1, 2, 3]}
    assert beat(client, group, "one", 2).error is ErrorCode.unknown_member_id


# -- static members


def test_a_static_member_comes_back_to_what_it_had(
    client: RawClient, group: str, created: Topic
) -> None:
    enter(client, group, "first-life", [created], instance_id="alpha")
    taken = enter(client, group, "second-life", [created], instance_id="alpha")
    assert taken.error is ErrorCode.unreleased_instance_id
    away = beat(client, group, "first-life", -2, instance_id="alpha")
    assert (away.error, away.epoch) == (NONE, -2)
    (member,) = describe_consumer_group(client, group).members
    assert (member.member_id, member.instance_id, member.member_epoch) == (
        "first-life",
        "alpha",
        -2,
    )
    back = enter(client, group, "second-life", [created], instance_id="alpha")
    assert (back.epoch, back.held) == (2, {created.id: [0, 1, 2, 3]})
    assert describe_consumer_group(client, group).group_epoch == 2
    fenced = ErrorCode.fenced_instance_id
    assert beat(client, group, "first-life", 2, instance_id="alpha").error is fenced
    assert beat(client, group, "first-life", -1, instance_id="alpha").error is fenced
    unknown = beat(client, group, "second-life", 2, instance_id="beta")
    assert unknown.error is ErrorCode.unknown_member_id
    assert beat(client, group, "second-life", -1, instance_id="alpha").error is NONE
    assert describe_consumer_group(client, group).group_state == "Empty"


def test_a_static_member_that_stays_away_is_put_out(
    client: RawClient, group: str, created: Topic
) -> None:
    enter(client, group, "one", [created], instance_id="alpha")
    beat(client, group, "one", -2, instance_id="alpha")
    wait_until_left(client, group)


# -- offsets


def test_commits_go_by_the_member_epoch(client: RawClient, group: str, created: Topic) -> None:
    enter(client, group, "one", [created])

    def error(partition: int = 0, **who: Any) -> ErrorCode:
        place = (created.name, partition)
        return commit(client, group, {place: 1}, **who)[place]

    assert error(member="one", generation=2) is NONE
    assert error(member="one", generation=3) is ErrorCode.stale_member_epoch
    assert error(member="one", generation=2, version=8) is ErrorCode.unsupported_version
    assert error(member="two", generation=2) is ErrorCode.unknown_member_id
    assert error() is ErrorCode.unknown_member_id
    enter(client, group, "two", [created])
    beat(client, group, "one", 2, owned={created: [0, 1, 2, 3]})
    assert error(3, member="one", generation=2) is NONE
    beat(client, group, "one", 2, owned={created: [0, 1]})
    # It has moved on to epoch 3: an older commit counts only for what it has had all the time.
    assert error(0, member="one", generation=2) is NONE
    assert error(3, member="one", generation=2) is ErrorCode.stale_member_epoch


def test_fetches_go_by_the_member_epoch(client: RawClient, group: str, created: Topic) -> None:
    enter(client, group, "one", [created])
    place, wanted = (created.name, 0), {created.name: (0,)}
    commit(client, group, {place: 7}, member="one", generation=2)
    found = committed(client, group, wanted, member="one", member_epoch=2)
    assert found[place].committed_offset == 7
    assert committed(client, group, wanted)[place].committed_offset == 7
    stale = committed(client, group, wanted, member="one", member_epoch=1)
    assert stale is ErrorCode.stale_member_epoch
    unknown = committed(client, group, wanted, member="two", member_epoch=2)
    assert unknown is ErrorCode.unknown_member_id


def test_an_empty_group_takes_anybodys_commits(
    client: RawClient, group: str, created: Topic
) -> None:
    enter(client, group, "one", [created])
    beat(client, group, "one", -1)
    place = (created.name, 0)
    assert commit(client, group, {place: 3})[place] is NONE


# -- administration


def test_classic_requests_to_a_new_group(client: RawClient, group: str, created: Topic) -> None:
    enter(client, group, "one", [created])
    unknown = ErrorCode.unknown_member_id
    assert heartbeat(client, group, "one", 2) is unknown
    assert sync(client, group, "one", 2).error_code is unknown
    assert describe(client, group).group_state == "Dead"
    newer = describe(client, group, 6)
    assert newer.error_code is ErrorCode.group_id_not_found
    assert group in newer.error_message
    # An administrator removes members of either kind with the same request.
    assert leave(client, group, "one") is NONE
    assert describe_consumer_group(client, group).group_state == "Empty"


def test_lists_and_deletes_new_groups(client: RawClient, group: str, created: Topic) -> None:
    enter(client, group, "one", [created])
    listed = client.call("list_groups", 5, types_filter=["consumer"]).groups
    (mine,) = [one for one in listed if one.group_id == group]
    assert (mine.protocol_type, mine.group_state, mine.group_type) == (
        "consumer",
        "Stable",
        "consumer",
    )
    (refused,) = client.call("delete_groups", 2, groups_names=[group]).results
    assert refused.error_code is ErrorCode.non_empty_group
    beat(client, group, "one", -1)
    (done,) = client.call("delete_groups", 2, groups_names=[group]).results
    assert done.error_code is NONE
    assert describe_consumer_group(client, group).error_code is ErrorCode.group_id_not_found


def test_a_new_group_has_a_largest_size(tmp_path_factory: pytest.TempPathFactory) -> None:
    from tests.integration.raw_client import RawClient

    for process in quick_broker(tmp_path_factory, **{"group.consumer.max.size": "1"}):
        with RawClient(process) as client:
            created = create_topic(client, "small")
            assert enter(client, "g", "one", [created]).error is NONE
            full = enter(client, "g", "two", [created])
            assert full.error is ErrorCode.group_max_size_reached
