"""A live group changes from the classic protocol to the new one and back, over the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from kio.schema.errors import ErrorCode
from tests.integration.raw_client import RawClient
from tests.integration.raw_consumer_groups import (
    beat,
    describe_consumer_group,
    embedded_assignment,
    embedded_subscription,
    enter,
    held_by,
)
from tests.integration.raw_groups import (
    commit,
    describe,
    fresh_group,
    heartbeat,
    join,
    leave,
    quick_broker,
    stable_member,
    sync,
    wait_until_rebalancing,
)
from tests.integration.raw_requests import Topic, create_topic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.broker_process import BrokerProcess

NONE = ErrorCode.none
CLASSIC, CONSUMER = 0, 1
ALL = [0, 1, 2, 3]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    yield from quick_broker(tmp_path_factory)


@pytest.fixture
def group() -> str:
    return fresh_group()


@pytest.fixture
def created(client: RawClient, topic: str) -> Topic:
    return create_topic(client, topic, partitions=4)


def classic_member(client: RawClient, group: str, topic: Topic, **how: Any) -> str:
    """A classic consumer alone in its group, with all four partitions."""
    joined = join(client, group, protocols=protocols(topic), **how)
    shares = {joined.member_id: embedded_assignment({topic.name: ALL})}
    synced = sync(client, group, joined.member_id, 1, shares, instance=how.get("instance"))
    assert synced.error_code is NONE
    member_id: str = joined.member_id
    return member_id


def protocols(topic: Topic, owned: list[int] | None = None, generation: int = -1) -> Any:
    held = None if owned is None else {topic.name: owned}
    metadata = embedded_subscription([topic.name], held, generation)
    return ({"name": "range", "metadata": metadata},)


def test_a_group_goes_over_and_back(client: RawClient, group: str, created: Topic) -> None:
    old = classic_member(client, group, created)
    place = (created.name, 0)
    commit(client, group, {place: 5}, member=old, generation=1)
    # The new member joins; the old one keeps all until it knows.
    assert enter(client, group, "new", [created])[1:3] == (2, {})
    described = describe_consumer_group(client, group)
    assert {m.member_id: m.member_type for m in described.members} == {
        old: CLASSIC,
        "new": CONSUMER,
    }
    assert held_by(described) == {old: {created.name: ALL}, "new": {}}
    assert describe(client, group).group_state == "Dead"
    in_progress = ErrorCode.rebalance_in_progress
    assert heartbeat(client, group, old, 1) is in_progress
    assert sync(client, group, old, 1).error_code is in_progress
    assert commit(client, group, {place: 6}, member=old, generation=1)[place] is NONE
    assert commit(client, group, {place: 6}, member=old, generation=1, version=8)[place] is NONE
    # It joins, is told what it keeps, gives up the rest and joins again.
    first = join(client, group, old, protocols=protocols(created, ALL, 1))
    assert (first.error_code, first.generation_id, first.leader) == (NONE, 1, "")
    told = sync(client, group, old, 1)
    assert told.assignment == embedded_assignment({created.name: [0, 1]})
    assert heartbeat(client, group, old, 1) is in_progress
    second = join(client, group, old, protocols=protocols(created, [0, 1], 1))
    assert (second.error_code, second.generation_id) == (NONE, 2)
    assert sync(client, group, old, 2).assignment == embedded_assignment({created.name: [0, 1]})
    assert heartbeat(client, group, old, 2) is NONE
    assert beat(client, group, "new", 2, owned={}).held == {created.id: [2, 3]}
    assert describe_consumer_group(client, group).group_state == "Stable"
    # The last member of the new protocol goes, and the group is a classic one again.
    assert beat(client, group, "new", -1).error is NONE
    described = describe(client, group)
    assert (described.group_state, described.protocol_type) == ("PreparingRebalance", "consumer")
    assert heartbeat(client, group, old, 2) is in_progress
    third = join(client, group, old, protocols=protocols(created))
    assert (third.generation_id, third.leader) == (3, old)


def test_the_offsets_come_along(client: RawClient, group: str, created: Topic) -> None:
    old = classic_member(client, group, created)
    place = (created.name, 0)
    commit(client, group, {place: 5}, member=old, generation=1)
    enter(client, group, "new", [created])
    assert commit(client, group, {place: 6}, member="new", generation=2)[place] is NONE


def test_other_protocols_cannot_join_a_mixed_group(
    client: RawClient, group: str, created: Topic
) -> None:
    classic_member(client, group, created)
    enter(client, group, "new", [created])
    metadata = embedded_subscription([created.name])
    other_name = ({"name": "roundrobin", "metadata": metadata},)
    inconsistent = ErrorCode.inconsistent_group_protocol
    assert join(client, group, protocols=other_name).error_code is inconsistent
    wrong_type = join(client, group, protocol_type="connect", protocols=protocols(created))
    assert wrong_type.error_code is inconsistent


def test_a_new_classic_member_joins_a_mixed_group(
    client: RawClient, group: str, created: Topic
) -> None:
    classic_member(client, group, created)
    enter(client, group, "new", [created])
    joined = join(client, group, protocols=protocols(created))
    assert (joined.error_code, joined.generation_id, joined.leader) == (NONE, 3, "")
    assert len(describe_consumer_group(client, group).members) == 3
    assert leave(client, group, joined.member_id) is NONE
    assert len(describe_consumer_group(client, group).members) == 2


def test_a_static_member_changes_over_without_a_rebalance(
    client: RawClient, group: str, created: Topic
) -> None:
    old = classic_member(client, group, created, instance="alpha")
    new = enter(client, group, "new", [created], instance_id="alpha")
    assert (new.epoch, new.held) == (1, {created.id: ALL})
    assert heartbeat(client, group, old, 1, instance="alpha") is ErrorCode.fenced_instance_id
    back = join(client, group, instance="alpha", protocols=protocols(created))
    assert (back.error_code, back.generation_id, back.protocol_name) == (NONE, 1, "range")
    described = describe(client, group)
    assert (described.group_state, described.protocol_data) == ("Stable", "range")
    synced = sync(client, group, back.member_id, 1, instance="alpha")
    assert synced.assignment == embedded_assignment({created.name: ALL})
    assert heartbeat(client, group, back.member_id, 1, instance="alpha") is NONE


def test_a_classic_member_that_waits_is_sent_to_join_again(
    client: RawClient, broker: BrokerProcess, group: str, created: Topic
) -> None:
    old = classic_member(client, group, created)
    with RawClient(broker) as other:
        body = {
            "group_id": group,
            "session_timeout": 10_000,
            "rebalance_timeout": 10_000,
            "protocol_type": "consumer",
            "protocols": protocols(created),
        }
        waiting = other.call("join_group", 9, member_id="", **body).member_id
        other.send("join_group", 9, member_id=waiting, **body)
        wait_until_rebalancing(client, group, old)
        enter(client, group, "new", [created])
        assert other.receive().error_code is ErrorCode.rebalance_in_progress


def test_empty_groups_change_at_once(client: RawClient, created: Topic) -> None:
    to_classic, to_consumer = fresh_group(), fresh_group()
    enter(client, to_classic, "one", [created])
    beat(client, to_classic, "one", -1)
    joined = join(client, to_classic, protocols=protocols(created))
    assert (joined.error_code, joined.generation_id) == (NONE, 1)
    leave(client, to_consumer, stable_member(client, to_consumer).member_id)
    assert enter(client, to_consumer, "one", [created]).epoch == 2
    listed = {one.group_id: one.group_type for one in client.call("list_groups", 5).groups}
    assert (listed[to_classic], listed[to_consumer]) == ("classic", "consumer")


def test_only_groups_of_consumers_go_over(client: RawClient, group: str, created: Topic) -> None:
    other = ({"name": "x", "metadata": b"x"},)
    stable_member(client, group, protocol_type="connect", protocols=other)
    assert enter(client, group, "new", [created]).error is ErrorCode.group_id_not_found
    assert describe(client, group).group_state == "Stable"


@pytest.mark.parametrize("policy", ["disabled", "downgrade"])
def test_groups_stay_where_they_are_if_they_must(
    tmp_path_factory: pytest.TempPathFactory, policy: str
) -> None:
    for process in quick_broker(tmp_path_factory, **{"group.consumer.migration.policy": policy}):
        with RawClient(process) as client:
            created = create_topic(client, "stays", partitions=4)
            classic_member(client, "old", created)
            refused = enter(client, "old", "new", [created])
            assert refused.error is ErrorCode.group_id_not_found
            enter(client, "new", "one", [created])
            joined = join(client, "new", protocols=protocols(created))
            allowed = policy == "downgrade"
            assert joined.error_code is (NONE if allowed else ErrorCode.inconsistent_group_protocol)
