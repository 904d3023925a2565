"""The classic protocol over the wire: every version, every state, every refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kio.schema.errors import ErrorCode
from tests.integration.raw_client import RawClient
from tests.integration.raw_groups import (
    FIRST_JOIN_WITH_KNOWN_MEMBER,
    JOIN_VERSIONS,
    NO_PROTOCOLS,
    RANGE,
    ROUND_ROBIN,
    describe,
    find_coordinator,
    fresh_group,
    heartbeat,
    join,
    join_body,
    leave,
    quick_broker,
    stable_member,
    subscription,
    sync,
    wait_until_empty,
    wait_until_rebalancing,
)
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.broker_process import BrokerProcess


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    yield from quick_broker(tmp_path_factory)


@pytest.fixture
def group() -> str:
    return fresh_group()


@pytest.fixture
def other(broker: BrokerProcess) -> Iterator[RawClient]:
    """A second connection: one that waits for a rebalance blocks its own."""
    with RawClient(broker) as connection:
        yield connection


# -- coordinators


@pytest.mark.parametrize("version", range(7))
def test_finds_the_coordinator(client: RawClient, broker: BrokerProcess, version: int) -> None:
    answer = client.call(
        "find_coordinator", version, key="some-group", coordinator_keys=["some-group", "another"]
    )
    found = answer.coordinators if version >= 4 else [answer]
    assert [one.error_code for one in found] == [ErrorCode.none] * len(found)
    assert {(one.host, one.port) for one in found} == {("127.0.0.1", broker.port)}
    if version >= 4:
        assert [one.key for one in found] == ["some-group", "another"]


def test_an_unknown_kind_of_coordinator_is_refused(client: RawClient) -> None:
    (found,) = client.call("find_coordinator", 4, coordinator_keys=["g"], key_type=7).coordinators
    assert found.error_code is ErrorCode.invalid_request


# -- joining


@pytest.mark.parametrize("version", JOIN_VERSIONS)
def test_a_first_member_leads(client: RawClient, group: str, version: int) -> None:
    first = client.call("join_group", version, **join_body(group))
    if version >= FIRST_JOIN_WITH_KNOWN_MEMBER:
        assert first.error_code is ErrorCode.member_id_required
        assert first.member_id.startswith("raw-")
        first = client.call("join_group", version, **join_body(group, first.member_id))
    assert first.error_code is ErrorCode.none
    assert first.generation_id == 1
    assert first.leader == first.member_id
    assert first.protocol_name == "range"
    assert [(m.member_id, m.metadata) for m in first.members] == [
        (first.member_id, RANGE["metadata"])
    ]
    if version >= 7:
        assert first.protocol_type == "consumer"
    if version >= 9:
        assert not first.skip_assignment


@pytest.mark.parametrize("version", range(6))
def test_sync_gives_the_assignment(client: RawClient, group: str, version: int) -> None:
    me = join(client, group)
    answer = sync(
        client, group, me.member_id, me.generation_id, {me.member_id: b"mine"}, version=version
    )
    assert (answer.error_code, answer.assignment) == (ErrorCode.none, b"mine")
    if version >= 5:
        assert (answer.protocol_type, answer.protocol_name) == ("consumer", "range")


@pytest.mark.parametrize("version", range(5))
def test_heartbeats_are_taken(client: RawClient, group: str, version: int) -> None:
    me = stable_member(client, group)
    assert heartbeat(client, group, me.member_id, 1, version=version) is ErrorCode.none


@pytest.mark.parametrize("version", range(6))
def test_one_who_leaves_is_gone(client: RawClient, group: str, version: int) -> None:
    me = stable_member(client, group)
    assert leave(client, group, me.member_id, version=version) is ErrorCode.none
    assert heartbeat(client, group, me.member_id, 1) is ErrorCode.unknown_member_id
    assert leave(client, group, me.member_id, version=version) is ErrorCode.unknown_member_id
    described = describe(client, group)
    assert (described.group_state, described.protocol_type) == ("Empty", "consumer")


def test_two_members_share_a_generation(client: RawClient, other: RawClient, group: str) -> None:
    one = stable_member(client, group)
    newcomer = other.call("join_group", 9, **join_body(group)).member_id
    other.send("join_group", 9, **join_body(group, newcomer))
    wait_until_rebalancing(client, group, one.member_id)
    assert heartbeat(client, group, one.member_id, 1) is ErrorCode.rebalance_in_progress
    assert describe(client, group).group_state == "PreparingRebalance"
    one = join(client, group, one.member_id)
    two = other.receive()
    assert one.generation_id == two.generation_id == 2
    assert one.leader == two.leader == one.member_id
    assert {m.member_id for m in one.members} == {one.member_id, two.member_id}
    assert two.members == ()
    assert describe(client, group).group_state == "CompletingRebalance"
    other.send(
        "sync_group", 5, group_id=group, member_id=two.member_id, generation_id=2,
        protocol_type="consumer", protocol_name="range",
    )  # fmt: skip
    shares = {one.member_id: b"left", two.member_id: b"right"}
    assert sync(client, group, one.member_id, 2, shares).assignment == b"left"
    assert other.receive().assignment == b"right"
    described = describe(client, group)
    assert (described.group_state, described.protocol_data) == ("Stable", "range")
    assert {m.member_id: m.member_assignment for m in described.members} == shares
    assert {m.client_host for m in described.members} == {"/127.0.0.1"}
    assert {m.client_id for m in described.members} == {"raw"}


def test_whoever_is_missing_from_the_assignment_gets_nothing(client: RawClient, group: str) -> None:
    me = join(client, group)
    assert sync(client, group, me.member_id, 1, {"somebody-else": b"x"}).assignment == b""


def test_the_protocol_that_all_know_is_chosen(
    client: RawClient, other: RawClient, group: str
) -> None:
    one = stable_member(client, group, protocols=(RANGE, ROUND_ROBIN))
    assert one.protocol_name == "range"
    newcomer = other.call("join_group", 9, **join_body(group, protocols=(ROUND_ROBIN,))).member_id
    other.send("join_group", 9, **join_body(group, newcomer, protocols=(ROUND_ROBIN,)))
    wait_until_rebalancing(client, group, one.member_id)
    again = join(client, group, one.member_id, protocols=(RANGE, ROUND_ROBIN))
    assert again.protocol_name == other.receive().protocol_name == "roundrobin"
    assert {m.metadata for m in again.members} == {ROUND_ROBIN["metadata"]}


def test_a_follower_that_lost_its_answer_gets_it_again(
    client: RawClient, other: RawClient, group: str
) -> None:
    one = stable_member(client, group)
    newcomer = other.call("join_group", 9, **join_body(group)).member_id
    other.send("join_group", 9, **join_body(group, newcomer))
    wait_until_rebalancing(client, group, one.member_id)
    join(client, group, one.member_id)
    other.receive()
    again = join(other, group, newcomer)
    assert (again.error_code, again.generation_id) == (ErrorCode.none, 2)
    shares = {one.member_id: b"a", newcomer: b"b"}
    sync(client, group, one.member_id, 2, shares)
    again = join(other, group, newcomer)
    assert (again.error_code, again.generation_id) == (ErrorCode.none, 2)
    assert sync(other, group, newcomer, 2).assignment == b"b"


def test_a_leader_that_joins_again_makes_everybody_join(client: RawClient, group: str) -> None:
    me = stable_member(client, group)
    assert join(client, group, me.member_id).generation_id == 2


def test_changed_metadata_makes_everybody_join(client: RawClient, group: str) -> None:
    me = join(client, group)
    changed = {"name": "range", "metadata": subscription("b")}
    again = join(client, group, me.member_id, protocols=(changed,))
    assert (again.generation_id, again.members[0].metadata) == (2, subscription("b"))


# -- timeouts


def test_a_silent_member_is_put_out(client: RawClient, group: str) -> None:
    me = stable_member(client, group, session_ms=1000)
    wait_until_empty(client, group)
    assert heartbeat(client, group, me.member_id, 1) is ErrorCode.unknown_member_id


def test_heartbeats_keep_a_member_alive(client: RawClient, other: RawClient, group: str) -> None:
    clock = fresh_group("clock")
    # So long that a busy machine sends a heartbeat in time.
    me = stable_member(client, group, session_ms=2000)
    # Three sessions of another member, one after the other, are longer than one of ours.

    def clock_state() -> str:
        assert heartbeat(client, group, me.member_id, 1) is ErrorCode.none
        return str(describe(other, clock).group_state)

    for _ in range(3):
        stable_member(other, clock, session_ms=700)
        wait_for(clock_state, until=lambda state: state == "Empty")


def test_one_who_does_not_join_in_time_is_put_out(
    client: RawClient, other: RawClient, group: str
) -> None:
    # Long enough for the first to sync in, on a busy machine as well.
    one = stable_member(client, group, rebalance_ms=1500)
    two = join(other, group, rebalance_ms=1500)
    assert (two.generation_id, two.leader) == (2, two.member_id)
    assert heartbeat(client, group, one.member_id, 1) is ErrorCode.unknown_member_id


def test_one_who_does_not_sync_in_time_is_put_out(client: RawClient, group: str) -> None:
    me = join(client, group, rebalance_ms=300)
    wait_until_empty(client, group)
    assert sync(client, group, me.member_id, 1).error_code is ErrorCode.unknown_member_id


def test_an_id_that_is_never_used_is_forgotten(client: RawClient, group: str) -> None:
    given = client.call("join_group", 9, **join_body(group, session_ms=250))
    assert given.error_code is ErrorCode.member_id_required
    clock = fresh_group("clock")
    stable_member(client, clock, session_ms=600)
    wait_until_empty(client, clock)
    late = client.call("join_group", 9, **join_body(group, given.member_id))
    assert late.error_code is ErrorCode.unknown_member_id


# -- static members


def test_a_static_member_comes_back_without_a_rebalance(client: RawClient, group: str) -> None:
    before = stable_member(client, group, instance="alpha")
    after = join(client, group, instance="alpha")
    assert after.error_code is ErrorCode.none
    assert after.generation_id == 1
    assert after.member_id != before.member_id
    assert after.skip_assignment
    assert after.leader == after.member_id
    assert [m.group_instance_id for m in after.members] == ["alpha"]
    synced = sync(client, group, after.member_id, 1, instance="alpha")
    assert (synced.error_code, synced.assignment) == (ErrorCode.none, b"all")


def test_an_older_leader_that_comes_back_is_told_that_another_leads(
    client: RawClient, group: str
) -> None:
    before = stable_member(client, group, instance="alpha", version=7)
    after = join(client, group, instance="alpha", version=7)
    assert (after.generation_id, after.leader) == (1, before.member_id)
    assert after.members == ()


def test_the_former_life_of_a_static_member_is_fenced(client: RawClient, group: str) -> None:
    before = stable_member(client, group, instance="alpha")
    join(client, group, instance="alpha")
    old = before.member_id
    fenced = ErrorCode.fenced_instance_id
    assert heartbeat(client, group, old, 1, instance="alpha") is fenced
    assert sync(client, group, old, 1, instance="alpha").error_code is fenced
    assert join(client, group, old, instance="alpha").error_code is fenced
    assert leave(client, group, old, instance="alpha") is fenced
    # Without its name it is simply nobody.
    assert heartbeat(client, group, old, 1) is ErrorCode.unknown_member_id


def test_a_static_member_with_other_protocols_makes_everybody_join(
    client: RawClient, group: str
) -> None:
    both = (RANGE, ROUND_ROBIN)
    stable_member(client, group, instance="alpha", protocols=both)
    after = join(client, group, instance="alpha", protocols=(ROUND_ROBIN, RANGE))
    assert (after.generation_id, after.protocol_name) == (2, "roundrobin")


def test_an_administrator_removes_a_static_member_by_its_name(
    client: RawClient, group: str
) -> None:
    stable_member(client, group, instance="alpha")
    assert leave(client, group, "", instance="beta") is ErrorCode.unknown_member_id
    assert leave(client, group, "", instance="alpha") is ErrorCode.none
    assert describe(client, group).group_state == "Empty"


# -- refusals


def test_an_empty_group_name_is_refused(client: RawClient) -> None:
    invalid = ErrorCode.invalid_group_id
    assert join(client, "").error_code is invalid
    assert sync(client, "", "m", 1).error_code is invalid
    assert heartbeat(client, "", "m", 1) is invalid
    assert leave(client, "", "m") is invalid


@pytest.mark.parametrize("session_ms", [199, 1_800_001, 0, -1])
def test_session_timeouts_have_bounds(client: RawClient, group: str, session_ms: int) -> None:
    answer = client.call("join_group", 9, **join_body(group, session_ms=session_ms))
    assert answer.error_code is ErrorCode.invalid_session_timeout


def test_a_member_needs_protocols_and_a_type(client: RawClient, group: str) -> None:
    inconsistent = ErrorCode.inconsistent_group_protocol
    assert join(client, group, protocols=NO_PROTOCOLS).error_code is inconsistent
    assert join(client, group, protocol_type="").error_code is inconsistent


def test_a_member_must_share_a_protocol_with_all(client: RawClient, group: str) -> None:
    me = stable_member(client, group)
    inconsistent = ErrorCode.inconsistent_group_protocol
    assert join(client, group, protocols=(ROUND_ROBIN,)).error_code is inconsistent
    assert join(client, group, protocol_type="connect").error_code is inconsistent
    wrong_type = sync(client, group, me.member_id, 1, protocol_type="connect")
    wrong_name = sync(client, group, me.member_id, 1, protocol_name="roundrobin")
    assert wrong_type.error_code is wrong_name.error_code is inconsistent


def test_strangers_are_unknown(client: RawClient, group: str) -> None:
    unknown = ErrorCode.unknown_member_id
    assert join(client, group, "nobody").error_code is unknown
    assert sync(client, group, "nobody", 1).error_code is unknown
    assert heartbeat(client, group, "nobody", 1) is unknown
    assert leave(client, group, "nobody") is unknown
    stable_member(client, group)
    assert join(client, group, "nobody").error_code is unknown
    assert sync(client, group, "nobody", 1).error_code is unknown
    assert heartbeat(client, group, "nobody", 1) is unknown
    assert leave(client, group, "nobody") is unknown


@pytest.mark.parametrize("generation", [0, 2, -1])
def test_another_generation_is_illegal(client: RawClient, group: str, generation: int) -> None:
    me = stable_member(client, group)
    illegal = ErrorCode.illegal_generation
    assert heartbeat(client, group, me.member_id, generation) is illegal
    assert sync(client, group, me.member_id, generation).error_code is illegal


def test_a_sync_during_the_next_rebalance_is_refused(
    client: RawClient, other: RawClient, group: str
) -> None:
    me = stable_member(client, group)
    newcomer = other.call("join_group", 9, **join_body(group)).member_id
    other.send("join_group", 9, **join_body(group, newcomer))
    wait_until_rebalancing(client, group, me.member_id)
    answer = sync(client, group, me.member_id, 1)
    assert answer.error_code is ErrorCode.rebalance_in_progress
    assert leave(client, group, me.member_id) is ErrorCode.none
    assert other.receive().generation_id == 2


def test_several_members_leave_with_one_request(
    client: RawClient, other: RawClient, group: str
) -> None:
    stable_member(client, group, instance="alpha")
    answer = client.call(
        "leave_group",
        5,
        group_id=group,
        members=[
            {"member_id": "", "group_instance_id": "alpha"},
            {"member_id": "nobody", "group_instance_id": None},
        ],
    )
    assert answer.error_code is ErrorCode.none
    assert [(m.member_id, m.group_instance_id, m.error_code) for m in answer.members] == [
        ("", "alpha", ErrorCode.none),
        ("nobody", None, ErrorCode.unknown_member_id),
    ]


def test_a_group_has_a_largest_size(tmp_path_factory: pytest.TempPathFactory) -> None:
    for process in quick_broker(tmp_path_factory, **{"group.max.size": "1"}):
        with RawClient(process) as client, RawClient(process) as other:
            group = fresh_group()
            me = stable_member(client, group)
            full = other.call("join_group", 9, **join_body(group))
            assert full.error_code is ErrorCode.group_max_size_reached
            assert heartbeat(client, group, me.member_id, 1) is ErrorCode.none


def test_the_first_rebalance_can_wait_for_more_members(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    delay = {"group.initial.rebalance.delay.ms": "400"}
    for process in quick_broker(tmp_path_factory, **delay):
        with RawClient(process) as client, RawClient(process) as other:
            group = fresh_group()
            first = client.call("join_group", 9, **join_body(group)).member_id
            client.send("join_group", 9, **join_body(group, first))
            two = join(other, group)
            one = client.receive()
            assert one.generation_id == two.generation_id == 1
            assert len(one.members) + len(two.members) == 2
            assert find_coordinator(other).error_code is ErrorCode.none
