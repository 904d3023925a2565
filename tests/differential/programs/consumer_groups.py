"""Groups of the new protocol: heartbeats that carry everything, epochs, assignments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.differential.observation import plain
from tests.differential.program import program
from tests.integration.raw_consumer_groups import (
    Beat,
    beat,
    describe_consumer_group,
    enter,
    held_by,
)
from tests.integration.raw_groups import commit, committed, describe, join
from tests.integration.raw_requests import create_topic
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.differential.engine import Engine
    from tests.integration.raw_client import RawClient
    from tests.integration.raw_requests import Topic

ONE, TWO = "member-one", "member-two"


def seen(answer: Beat, since: int = 0) -> Any:
    """An answer, with its epoch counted from another one.

    Kafka's coordinator may hear of a new topic after its member: then the first epoch is spent on
    no partitions.
    """
    held = None if answer.held is None else sorted(answer.held.values())
    return [plain(answer.error), answer.epoch - since if answer.epoch > 0 else answer.epoch, held]


def counted_from(described: Any, epoch: int) -> dict[str, Any]:
    """A described group, with its epochs counted from one that a member was told."""
    group: dict[str, Any] = plain(described)
    return group | {key: group[key] - epoch for key in ("group_epoch", "assignment_epoch")}


def settled(
    client: RawClient, group: str, member: str, topic: Topic, wanted: int, **who: Any
) -> Any:
    """Heartbeat until the member has as many partitions as it is due."""
    answer = enter(client, group, member, [topic], **who)
    held = (answer.held or {}).get(topic.id, [])

    def enough() -> bool:
        nonlocal answer, held
        if len(held) == wanted:
            return True
        answer = beat(client, group, member, answer.epoch, owned={topic: held}, **who)
        if answer.held is not None:
            held = answer.held.get(topic.id, [])
        return len(held) == wanted

    wait_for(enough)
    return answer.epoch, held


@program
def consumer_groups_life_of_one_member(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name, 3)
        epoch, held = settled(client, name, ONE, topic, 3)
        steady = beat(client, name, ONE, epoch, owned={topic: held})
        group = counted_from(describe_consumer_group(client, name), epoch)
        gone = beat(client, name, ONE, -1)
        return (
            [held, seen(steady, epoch), seen(gone)],
            {key: value for key, value in group.items() if key != "members"},
            counted_from(describe_consumer_group(client, name), epoch),
        )


@program
def consumer_groups_members_are_described(engine: Engine, name: str) -> Any:
    with engine.raw("my-client") as client:
        topic = create_topic(client, name, 2)
        epoch, _ = settled(client, name, ONE, topic, 2)
        (member,) = plain(describe_consumer_group(client, name))["members"]
        return member | {"member_epoch": member["member_epoch"] - epoch}


@program
def consumer_groups_two_members_share(engine: Engine, name: str) -> Any:
    with engine.raw() as client, engine.raw() as other:
        topic = create_topic(client, name, 4)
        epoch, _ = settled(client, name, ONE, topic, 4)
        second = enter(other, name, TWO, [topic])
        asked = wait_for(
            lambda: beat(client, name, ONE, epoch), until=lambda answer: answer.held is not None
        )
        given_up = (asked.held or {})[topic.id]
        acknowledged = beat(client, name, ONE, asked.epoch, owned={topic: given_up})
        taken = wait_for(
            lambda: beat(other, name, TWO, second.epoch),
            until=lambda answer: answer.held is not None,
        )
        got = (taken.held or {})[topic.id]
        described = held_by(describe_consumer_group(client, name))
        return [
            len(given_up),
            len(got),
            sorted({*given_up, *got}),
            plain(acknowledged.error),
            sorted(len(topics.get(name, ())) for topics in described.values()),
        ]


@program
def consumer_groups_refusals(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        epoch, _ = settled(client, name, ONE, topic, 1)
        answers = [
            beat(client, "", ONE, 0, subscribed_topic_names=[name]),
            beat(client, name, "", 0, subscribed_topic_names=[name]),
            beat(client, name, "nobody", 3),
            beat(client, name, ONE, epoch + 5),
            beat(client, f"{name}-ghost", ONE, 1),
            enter(client, name, TWO, None),
            enter(client, name, TWO, [topic], rebalance_timeout=-1),
            enter(client, name, TWO, [topic], server_assignor="astrology"),
            enter(client, name, TWO, [topic], instance_id=""),
            beat(client, name, ONE, -7),
        ]
        return [seen(answer) for answer in answers]


@program
def consumer_groups_by_pattern(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        for suffix in ("in-1", "in-2", "out"):
            create_topic(client, f"{name}-{suffix}")
        answer = enter(client, name, ONE, [], subscribed_topic_regex=f"{name}-in-.*")

        def all_there() -> bool:
            nonlocal answer
            described = held_by(describe_consumer_group(client, name))[ONE]
            if len(described) == 2:
                return True
            answer = beat(client, name, ONE, answer.epoch)
            return False

        wait_for(all_there)
        bad = enter(client, name, TWO, [], subscribed_topic_regex="([")
        return held_by(describe_consumer_group(client, name)), seen(bad)


@program
def consumer_groups_range_assignor(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name, 3)
        answer = enter(client, name, ONE, [topic], server_assignor="range")
        wait_for(lambda: held_by(describe_consumer_group(client, name)).get(ONE))
        return seen(answer)[0], describe_consumer_group(client, name).assignor_name


@program
def consumer_groups_topic_that_comes_later(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        answer = enter(client, name, ONE, None, subscribed_topic_names=[name])
        before = seen(answer)
        topic = create_topic(client, name, 2)

        def assigned() -> Any:
            nonlocal answer
            answer = beat(client, name, ONE, answer.epoch, owned={})
            return answer.held and topic.id in answer.held

        wait_for(assigned)
        assert answer.held is not None
        return before, answer.held[topic.id]


@program
def consumer_groups_static_member(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        epoch, _ = settled(client, name, ONE, topic, 1, instance_id="i-1")
        other = enter(client, name, TWO, [topic], instance_id="i-1")
        away = beat(client, name, ONE, -2, instance_id="i-1")
        back = enter(client, name, TWO, [topic], instance_id="i-1")
        old = beat(client, name, ONE, epoch, instance_id="i-1")
        return [seen(answer, epoch) for answer in (other, away, back, old)]


@program
def consumer_groups_static_member_asks_twice(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        first = enter(client, name, ONE, [topic], instance_id="i-1")
        again = enter(client, name, ONE, [topic], instance_id="i-1")
        return plain(first.error), plain(again.error)


@program
def consumer_groups_member_that_falls_silent(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        answer = enter(client, name, ONE, [topic])
        wait_for(lambda: describe_consumer_group(client, name).group_state == "Empty")
        return seen(beat(client, name, ONE, answer.epoch))


@program
def consumer_groups_commits_need_the_epoch(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        epoch, _ = settled(client, name, ONE, topic, 1)
        place = {(name, 0): 3}
        return [
            plain(commit(client, name, place, member=ONE, generation=epoch)),
            plain(commit(client, name, place, member=ONE, generation=epoch + 1)),
            plain(commit(client, name, place, member="nobody", generation=epoch)),
            plain(commit(client, name, place)),
            plain(committed(client, name, {name: (0,)}, member=ONE, member_epoch=epoch)),
            plain(committed(client, name, {name: (0,)}, member=ONE, member_epoch=epoch + 1)),
            plain(committed(client, name, {name: (0,)}, member="nobody", member_epoch=1)),
        ]


@program
def consumer_groups_through_old_requests(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        settled(client, name, ONE, topic, 1)
        listed = client.call("list_groups", 5, types_filter=["consumer"])
        return [
            plain(describe(client, name)),
            plain(join(client, name).error_code),
            [plain(group) for group in listed.groups if group.group_id == name],
            plain(describe_consumer_group(client, f"{name}-ghost")),
        ]


@program
def consumer_groups_by_confluent(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name, 2)
    producer = engine.producer()
    for number in range(6):
        producer.produce(name, b"%d" % number, partition=number % 2)
    producer.flush()
    with engine.consumer(name, group_protocol="consumer") as consumer:
        consumer.subscribe([name])
        got: list[Any] = []
        while len(got) < 6:
            message = wait_for(lambda: consumer.poll(1))
            if message.error() is None:
                got.append([message.partition(), message.offset(), message.value()])
        consumer.commit(asynchronous=False)
    with engine.raw() as client:
        offsets = committed(client, name, {name: (0, 1)})
        wait_for(lambda: describe_consumer_group(client, name).group_state == "Empty")
        return sorted(got), {str(place): one.committed_offset for place, one in offsets.items()}
