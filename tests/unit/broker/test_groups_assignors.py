"""Server-side assignors: everything is given out, once, evenly, and with few moves."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.broker.groups.assignors import ASSIGNORS, GroupSpec, MemberSpec

if TYPE_CHECKING:
    from headwater.broker.groups.consumer.member import Partitions

TOPICS = [name.encode() for name in "abcd"]

Given = dict[str, tuple[str | None, frozenset[bytes]]]


def spec(members: Given, counts: dict[bytes, int], held: dict[str, Partitions]) -> GroupSpec:
    return GroupSpec(
        {
            member_id: MemberSpec(
                instance_id,
                frozenset(topic for topic in topics if topic in counts),
                held.get(member_id, {}),
            )
            for member_id, (instance_id, topics) in members.items()
        },
        counts,
    )


def check(group: GroupSpec, assigned: dict[str, Partitions]) -> None:
    assert assigned.keys() == group.members.keys()
    given = Counter(
        (topic, partition)
        for member_id, topics in assigned.items()
        for topic, partitions in topics.items()
        for partition in partitions
        if topic in group.members[member_id].topic_ids
    )
    wanted = {topic for member in group.members.values() for topic in member.topic_ids}
    expected = {
        (topic, partition) for topic in wanted for partition in range(group.partition_counts[topic])
    }
    assert given == Counter(dict.fromkeys(expected, 1))
    total = sum(len(numbers) for topics in assigned.values() for numbers in topics.values())
    assert total == len(expected), "somebody got what it did not subscribe to"
    assert all(numbers for topics in assigned.values() for numbers in topics.values())


subscriptions = st.frozensets(st.sampled_from(TOPICS), min_size=1)
members = st.dictionaries(
    st.integers(0, 99).map("m{}".format),
    st.tuples(st.none() | st.integers(0, 999).map("i{}".format), subscriptions),
    min_size=1,
    max_size=8,
)
counts = st.dictionaries(st.sampled_from(TOPICS), st.integers(1, 12), min_size=1)


@pytest.mark.parametrize("name", ASSIGNORS)
@given(members=members, more=members, before=counts, after=counts)
def test_everything_is_given_out_once(
    name: str, members: Given, more: Given, before: dict[bytes, int], after: dict[bytes, int]
) -> None:
    assign = ASSIGNORS[name]
    group = spec(members, before, {})
    held = assign(group)
    check(group, held)
    # Members come and go, topics come, grow and go; what was held may be nonsense by now.
    group = spec({**more, **dict(list(members.items())[::2])}, after, held)
    check(group, assign(group))


@given(members=members, counts=counts)
def test_uniform_is_even_among_equals(members: Given, counts: dict[bytes, int]) -> None:
    same: Given = {member_id: (None, frozenset(TOPICS)) for member_id in members}
    assigned = ASSIGNORS["uniform"](spec(same, counts, {}))
    loads = [sum(map(len, topics.values())) for topics in assigned.values()]
    assert max(loads) - min(loads) <= 1


@given(members=members, counts=counts, gone=st.integers(0, 7))
def test_uniform_moves_only_what_it_must(
    members: Given, counts: dict[bytes, int], gone: int
) -> None:
    same: Given = {member_id: (None, frozenset(TOPICS)) for member_id in members}
    held = ASSIGNORS["uniform"](spec(same, counts, {}))
    assert ASSIGNORS["uniform"](spec(same, counts, held)) == held
    if len(same) == 1:
        return
    leaver = sorted(same)[gone % len(same)]
    fewer = {member_id: said for member_id, said in same.items() if member_id != leaver}
    after = ASSIGNORS["uniform"](spec(fewer, counts, held))
    for member_id in fewer:
        for topic, partitions in held[member_id].items():
            assert partitions <= after[member_id].get(topic, frozenset()), "moved without need"


@given(members=members, counts=counts)
def test_uniform_is_as_even_as_subscriptions_allow(
    members: Given, counts: dict[bytes, int]
) -> None:
    group = spec(members, counts, {})
    assigned = ASSIGNORS["uniform"](group)
    load = {member_id: sum(map(len, topics.values())) for member_id, topics in assigned.items()}
    for giver, topics in assigned.items():
        for taker, member in group.members.items():
            if member.topic_ids & topics.keys():
                assert load[giver] - load[taker] <= 1, "one move would make it more even"


def test_range_gives_neighbours_and_the_same_of_every_topic() -> None:
    everything = frozenset({b"a", b"b"})
    members: Given = dict.fromkeys(("m1", "m2", "m3"), (None, everything))
    assigned = ASSIGNORS["range"](spec(members, {b"a": 5, b"b": 5}, {}))
    assert assigned == {
        "m1": {b"a": frozenset({0, 1}), b"b": frozenset({0, 1})},
        "m2": {b"a": frozenset({2, 3}), b"b": frozenset({2, 3})},
        "m3": {b"a": frozenset({4}), b"b": frozenset({4})},
    }


def test_range_goes_by_the_names_of_static_members() -> None:
    only = frozenset({b"a"})
    before = ASSIGNORS["range"](
        spec({"m1": ("x", only), "m2": ("y", only), "m0": (None, only)}, {b"a": 3}, {})
    )
    after = ASSIGNORS["range"](
        spec({"m9": ("x", only), "m8": ("y", only), "m0": (None, only)}, {b"a": 3}, {})
    )
    assert (before["m1"], before["m2"], before["m0"]) == (after["m9"], after["m8"], after["m0"])


def test_nobody_is_given_nothing() -> None:
    for assign in ASSIGNORS.values():
        assert assign(GroupSpec({}, {})) == {}
