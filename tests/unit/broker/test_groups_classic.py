"""The classic protocol in a world where the clock and the disk do what the test says."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.broker.group_world import Answers, World, ask

from headwater.broker.groups.classic.group import ClassicGroup, ClassicState
from headwater.broker.groups.classic.messages import JoinRequest, LeavingMember, SyncRequest
from headwater.broker.groups.settings import GroupSettings
from headwater.protocol.errors import ErrorCode

SESSION_MS, REBALANCE_MS = 1_000, 5_000
NONE = ErrorCode.NONE


def join(world: World, member_id: str = "", **how: Any) -> Answers:
    request = JoinRequest(
        "g",
        member_id,
        how.get("instance"),
        how.get("client", "c"),
        "/here",
        SESSION_MS,
        how.get("rebalance_ms", REBALANCE_MS),
        "consumer",
        how.get("protocols", (("range", b"\0\0\0\0\0\0\xff\xff\xff\xff"),)),
        needs_known_member_id=how.get("needs_id", False),
        can_skip_assignment=True,
    )
    return ask(world.shard.join, request)


def sync(world: World, member_id: str, generation: int, **assignments: bytes) -> Answers:
    request = SyncRequest("g", generation, member_id, None, None, None, assignments)
    return ask(world.shard.sync, request)


def beat(world: World, member_id: str, generation: int) -> ErrorCode:
    return world.shard.heartbeat("g", member_id, None, generation)


def group(world: World) -> ClassicGroup:
    found = world.shard.groups["g"]
    assert isinstance(found, ClassicGroup)
    return found


def stable(world: World, members: int = 1) -> list[str]:
    """A group in which everybody has an assignment."""
    # All of them join before the first rebalance, which has no delay but is not at once.
    joined = [join(world, client=f"c{number}") for number in range(members)]
    world.settle()
    assert all(answers.value.generation == 1 for answers in joined)
    known = list(group(world).members)
    generation = group(world).generation
    leader = group(world).leader_id
    assert leader is not None
    followers = [sync(world, one, generation) for one in known if one != leader]
    lead = sync(world, leader, generation, **dict.fromkeys(known, b"share"))
    world.settle()
    assert all(answers.value.error is NONE for answers in (*followers, lead))
    return known


@pytest.fixture
def world() -> World:
    return World()


def test_nothing_is_told_before_it_is_stored(world: World) -> None:
    joined = join(world)
    world.timers.fire()
    me = joined.value.member_id
    synced = sync(world, me, 1, **{me: b"mine"})
    assert not synced.is_given
    assert group(world).state is ClassicState.COMPLETING_REBALANCE
    world.journal.store()
    assert synced.value.assignment == b"mine"
    assert group(world).state is ClassicState.STABLE


def test_an_assignment_that_cannot_be_stored_is_not_given_out(world: World) -> None:
    joined = join(world)
    world.timers.fire()
    me = joined.value.member_id
    world.journal.is_full = True
    synced = sync(world, me, 1, **{me: b"mine"})
    assert synced.value.error is ErrorCode.NOT_COORDINATOR
    assert beat(world, me, 1) is ErrorCode.REBALANCE_IN_PROGRESS
    world.journal.is_full = False
    again = join(world, me)
    assert again.value.generation == 2


def test_a_disk_that_fails_later_makes_everybody_join_again(world: World) -> None:
    joined = join(world)
    world.timers.fire()
    me = joined.value.member_id
    synced = sync(world, me, 1, **{me: b"mine"})
    world.journal.store(ErrorCode.KAFKA_STORAGE_ERROR)
    assert synced.value.error is ErrorCode.NOT_COORDINATOR
    assert group(world).state is ClassicState.PREPARING_REBALANCE


def test_an_assignment_that_is_stored_too_late_is_forgotten(world: World) -> None:
    (me,) = stable(world)
    first = join(world, me)
    old = sync(world, me, first.value.generation, **{me: b"old"})
    newcomer = join(world)
    assert old.value.error is ErrorCode.REBALANCE_IN_PROGRESS
    again = join(world, me)
    assert again.value.generation == newcomer.value.generation == 3
    # Only now the disk is done with what the leader of generation 2 wanted.
    world.journal.store()
    assert group(world).state is ClassicState.COMPLETING_REBALANCE
    assert group(world).members[me].assignment == b""


def test_one_who_waits_for_us_is_not_put_out(world: World) -> None:
    one, two = stable(world, 2)
    waiting = join(world, one) if group(world).leader_id == one else join(world, two)
    follower = two if group(world).leader_id == one else one
    for _ in range(4):
        world.wait(SESSION_MS - 100)
        assert beat(world, follower, group(world).generation) is ErrorCode.REBALANCE_IN_PROGRESS
    assert not waiting.is_given
    assert len(group(world).members) == 2
    join(world, follower)
    assert waiting.value.error is NONE


def test_a_newcomer_does_not_wait_for_ever(world: World) -> None:
    (me,) = stable(world)
    newcomer = join(world, rebalance_ms=10_000_000)
    for _ in range(320):
        world.wait(SESSION_MS - 50)
        assert beat(world, me, 1) is ErrorCode.REBALANCE_IN_PROGRESS
        if newcomer.is_given:
            break
    assert newcomer.value.error is ErrorCode.UNKNOWN_MEMBER_ID
    assert list(group(world).members) == [me]


def test_the_first_rebalance_is_put_off_as_long_as_members_come() -> None:
    world = World(GroupSettings(min_session_timeout_ms=1, initial_rebalance_delay_ms=300))
    first = join(world)
    world.wait(200)
    second = join(world)
    world.wait(200)
    assert not first.is_given
    third = join(world)
    world.wait(500)
    assert {one.value.generation for one in (first, second, third)} == {1}
    assert sum(len(one.value.members) for one in (first, second, third)) == 3


def test_the_first_rebalance_is_not_put_off_for_ever() -> None:
    world = World(GroupSettings(min_session_timeout_ms=1, initial_rebalance_delay_ms=300))
    first = join(world, rebalance_ms=1_000)
    for _ in range(10):
        join(world, rebalance_ms=1_000)
        world.wait(150)
    assert first.value.generation == 1


def test_static_members_that_are_all_away_are_waited_for(world: World) -> None:
    gone = join(world, instance="i")
    world.settle()
    me = gone.value.member_id
    ask(world.shard.sync, SyncRequest("g", 1, me, "i", None, None, {me: b"x"}))
    world.settle()
    world.shard.classic.rebalance(group(world), "a test")
    world.wait(REBALANCE_MS - 1)
    # Its session has ended by now, and with it the group's last member.
    assert group(world).is_empty
    assert group(world).generation == 2


def test_a_second_join_of_one_who_waits_answers_the_first(world: World) -> None:
    one, two = stable(world, 2)
    follower = two if group(world).leader_id == one else one
    leader = one if follower == two else two
    first = join(world, leader)
    second = join(world, leader)
    assert first.value.error is ErrorCode.REBALANCE_IN_PROGRESS
    assert not second.is_given
    join(world, follower)
    assert second.value.error is NONE


def test_ids_that_were_handed_out_hold_up_the_rebalance_only_for_a_session(world: World) -> None:
    (me,) = stable(world)
    given = join(world, needs_id=True)
    assert given.value.error is ErrorCode.MEMBER_ID_REQUIRED
    waiting = join(world, me)
    assert not waiting.is_given
    world.wait(SESSION_MS)
    assert waiting.value.error is NONE


def test_an_empty_group_is_written_down(world: World) -> None:
    (me,) = stable(world)
    left = ask(world.shard.leave, "g", [LeavingMember(me, None)])
    assert not left.is_given
    world.journal.store()
    assert left.value[0] is NONE
    reloaded = world.reloaded().groups["g"]
    assert isinstance(reloaded, ClassicGroup)
    assert (reloaded.state, reloaded.generation) == (ClassicState.EMPTY, 2)
    assert reloaded.protocol_type == "consumer"


def test_a_larger_group_than_allowed_shrinks_after_a_restart(world: World) -> None:
    stable(world, 3)
    smaller = World(GroupSettings(min_session_timeout_ms=1, max_size=2))
    smaller.journal.records = world.journal.records
    smaller.journal.producers = world.journal.producers
    smaller.shard.groups = smaller.reloaded().groups
    smaller.shard.resume()
    assert group(smaller).state is ClassicState.PREPARING_REBALANCE
    answers = [join(smaller, member_id) for member_id in tuple(group(smaller).members)]
    smaller.settle()
    errors = sorted(one.value.error.name for one in answers)
    assert errors == ["GROUP_MAX_SIZE_REACHED", "NONE", "NONE"]


def test_closing_sends_those_who_wait_elsewhere(world: World) -> None:
    stable(world, 2)
    waiting = join(world, group(world).leader_id or "")
    world.shard.close()
    assert waiting.value.error is ErrorCode.NOT_COORDINATOR
