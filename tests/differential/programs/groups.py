"""Classic groups: joining, leaving, heartbeats, states, and what is refused."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from confluent_kafka import ConsumerGroupState, TopicPartition
from tests.differential.engine import WITHIN_S
from tests.differential.observation import outcome, plain
from tests.differential.program import program
from tests.integration.raw_groups import (
    NO_PROTOCOLS,
    RANGE,
    ROUND_ROBIN,
    describe,
    heartbeat,
    join,
    join_body,
    leave,
    stable_member,
    sync,
)
from tests.integration.raw_requests import create_topic, produce
from tests.integration.record_batches import batch_of
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.differential.engine import Engine

JOIN_VERSIONS = range(10)


@program
def groups_join_every_version(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        return [
            plain(client.call("join_group", version, **join_body(f"{name}-{version}")))
            for version in JOIN_VERSIONS
        ]


@program
def groups_life_of_one_member(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        joined = stable_member(client, name)
        member, generation = joined.member_id, joined.generation_id
        return [
            plain(joined),
            plain(describe(client, name)),
            plain(heartbeat(client, name, member, generation)),
            plain(join(client, name, member)),
            plain(describe(client, name)),
            plain(heartbeat(client, name, member, generation)),
            plain(leave(client, name, member)),
            plain(describe(client, name)),
            plain(heartbeat(client, name, member, generation)),
        ]


@program
def groups_bad_joins(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        bodies = [
            join_body("", session_ms=10_000),
            join_body(name, session_ms=1),
            join_body(name, session_ms=100_000_000),
            join_body(name, protocols=NO_PROTOCOLS),
            join_body(name, protocol_type=""),
            join_body(name, "nobody"),
            join_body(name, instance=""),
        ]
        return [plain(client.call("join_group", 9, **body).error_code) for body in bodies]


@program
def groups_bad_instance_names(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        answers: list[Any] = []
        for instance in (".", "..", "a b", "x" * 250, "fine"):
            body = join_body(f"{name}-{len(answers)}", instance=instance)
            answers.append(plain(client.call("join_group", 9, **body).error_code))
        return answers


@program
def groups_inconsistent_protocols(engine: Engine, name: str) -> Any:
    with engine.raw() as client, engine.raw() as other:
        stable_member(client, name)
        return [
            plain(join(other, name, protocols=(ROUND_ROBIN,)).error_code),
            plain(join(other, name, protocol_type="connect").error_code),
        ]


@program
def groups_two_members_choose_a_protocol(engine: Engine, name: str) -> Any:
    with engine.raw("a") as first, engine.raw("b") as second:
        one = stable_member(first, name, protocols=(RANGE, ROUND_ROBIN))
        told = second.call("join_group", 9, **join_body(name, protocols=(ROUND_ROBIN, RANGE)))
        second.send(
            "join_group", 9, **join_body(name, told.member_id, protocols=(ROUND_ROBIN, RANGE))
        )
        wait_for(
            lambda: (
                heartbeat(first, name, one.member_id, one.generation_id).name
                == "rebalance_in_progress"
            )
        )
        state = describe(first, name).group_state
        again = join(first, name, one.member_id, protocols=(RANGE, ROUND_ROBIN))
        joined = second.receive()
        waiting = second.send(
            "sync_group",
            5,
            group_id=name,
            member_id=joined.member_id,
            generation_id=joined.generation_id,
            protocol_type="consumer",
            protocol_name=joined.protocol_name,
            assignments=[],
        )
        synced = sync(
            first,
            name,
            again.member_id,
            again.generation_id,
            {again.member_id: b"first", joined.member_id: b"second"},
            protocol_name=again.protocol_name,
        )
        return [
            state,
            waiting > 0,
            [again.generation_id, again.protocol_name, again.leader == again.member_id],
            len(again.members),
            [joined.generation_id, joined.leader == again.member_id, len(joined.members)],
            plain(synced),
            plain(second.receive()),
            describe(first, name).group_state,
        ]


@program
def groups_sync_refusals(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        joined = stable_member(client, name)
        member, generation = joined.member_id, joined.generation_id
        return [
            plain(sync(client, name, member, generation + 1).error_code),
            plain(sync(client, name, "nobody", generation).error_code),
            plain(sync(client, name, member, generation, protocol_name="other").error_code),
            plain(sync(client, name, member, generation, protocol_type="other").error_code),
            plain(sync(client, f"{name}-ghost", member, generation).error_code),
            plain(sync(client, "", member, generation).error_code),
            plain(sync(client, name, member, generation).assignment),
        ]


@program
def groups_heartbeat_refusals(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        joined = stable_member(client, name)
        member, generation = joined.member_id, joined.generation_id
        return [
            plain(heartbeat(client, name, member, generation - 1)),
            plain(heartbeat(client, name, member, generation + 1)),
            plain(heartbeat(client, name, "nobody", generation)),
            plain(heartbeat(client, f"{name}-ghost", member, generation)),
            plain(heartbeat(client, "", member, generation)),
            plain(heartbeat(client, name, member, generation, instance="who")),
        ]


@program
def groups_leave_every_version(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        answers = []
        for version in range(6):
            group = f"{name}-{version}"
            joined = stable_member(client, group)
            answers.append(plain(leave(client, group, joined.member_id, version=version)))
            answers.append(plain(leave(client, group, joined.member_id, version=version)))
        return answers, plain(leave(client, f"{name}-ghost", "x")), plain(leave(client, "", "x"))


@program
def groups_static_member_comes_back(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        first = stable_member(client, name, instance="i-1")
        second = join(client, name, instance="i-1")
        return [
            plain(second.error_code),
            first.member_id == second.member_id,
            second.generation_id,
            second.leader == second.member_id,
            second.skip_assignment,
            plain(heartbeat(client, name, first.member_id, first.generation_id, instance="i-1")),
            plain(heartbeat(client, name, second.member_id, second.generation_id, instance="i-1")),
            plain(sync(client, name, second.member_id, second.generation_id, instance="i-1")),
            describe(client, name).group_state,
            plain(leave(client, name, "", instance="i-1")),
            describe(client, name).group_state,
        ]


@program
def groups_member_that_falls_silent(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        joined = stable_member(client, name, session_ms=300)
        wait_for(lambda: describe(client, name).group_state == "Empty")
        return plain(heartbeat(client, name, joined.member_id, joined.generation_id)), plain(
            describe(client, name)
        )


@program
def groups_describe_every_version(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        stable_member(client, name)
        return [
            [plain(describe(client, group, version)) for version in range(7)]
            for group in (name, f"{name}-ghost")
        ]


@program
def groups_describe_nothing_and_nameless(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        return [
            plain(client.call("describe_groups", 5, groups=groups).groups)
            for groups in ([], [""], [f"{name}-ghost", f"{name}-ghost"])
        ]


@program
def groups_list_by_state_and_type(engine: Engine, name: str) -> Any:
    def listed(**filters: Any) -> Any:
        answer = client.call("list_groups", 5, **filters)
        mine = [plain(group) for group in answer.groups if group.group_id.startswith(name)]
        return plain(answer.error_code), sorted(mine, key=repr)

    with engine.raw() as client:
        stable_member(client, f"{name}-stable")
        gone = stable_member(client, f"{name}-empty")
        leave(client, f"{name}-empty", gone.member_id)
        return [
            listed(),
            listed(states_filter=["Stable"]),
            listed(states_filter=["empty", "Dead"]),
            listed(states_filter=["Nonsense"]),
            listed(types_filter=["classic"]),
            listed(types_filter=["Consumer"]),
            listed(types_filter=["nonsense"]),
        ]


@program
def groups_delete(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        stable_member(client, f"{name}-stable")
        gone = stable_member(client, f"{name}-empty")
        leave(client, f"{name}-empty", gone.member_id)
        asked = [f"{name}-stable", f"{name}-empty", f"{name}-ghost", ""]
        answers = plain(client.call("delete_groups", 2, groups_names=asked).results)
        return (
            sorted(answers, key=lambda result: str(result["group_id"])),
            plain(describe(client, f"{name}-empty")),
        )


@program
def groups_find_coordinator(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        answers = []
        for version in range(7):
            for kind in (0, 1, 2, 9):
                if kind and version == 0:
                    continue
                answers.append(
                    plain(
                        client.call(
                            "find_coordinator",
                            version,
                            key=name,
                            key_type=kind,
                            coordinator_keys=[name, ""],
                        )
                    )
                )
                if kind == 9 and version < 4:
                    break
        return answers


@program
def groups_consume_and_commit_by_confluent(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name, 2)
        for partition in (0, 1):
            produce(client, topic, batch_of([b"%d" % n for n in range(5)]), partition=partition)
    got: list[Any] = []
    with engine.consumer(name) as consumer:
        consumer.subscribe([name])
        while len(got) < 10:
            message = wait_for(lambda: consumer.poll(1))
            got.append([message.partition(), message.offset(), message.value()])
        consumer.commit(asynchronous=False)
        places = [TopicPartition(name, partition) for partition in (0, 1)]
        committed = [place.offset for place in consumer.committed(places, WITHIN_S)]
        assignment = sorted(place.partition for place in consumer.assignment())
    again: list[Any] = []
    with engine.raw() as client:
        produce(client, topic, batch_of([b"more"]), partition=1)
    with engine.consumer(name) as consumer:
        consumer.subscribe([name])
        message = wait_for(lambda: consumer.poll(1))
        again.append([message.partition(), message.offset(), message.value()])
    return sorted(got), committed, assignment, again


@program
def groups_states_by_confluent(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
    admin = engine.admin()

    def described() -> Any:
        return admin.describe_consumer_groups([name])[name].result(WITHIN_S)

    states = [outcome(lambda: described().state.name)]
    with engine.consumer(name) as consumer:
        consumer.subscribe([name])
        wait_for(lambda: consumer.poll(0.1) or consumer.assignment())
        wait_for(lambda: described().state == ConsumerGroupState.STABLE)
        group = described()
        states.append(
            [
                group.is_simple_consumer_group,
                group.partition_assignor,
                [[len(member.assignment.topic_partitions), member.group_instance_id]
                 for member in group.members],
            ]
        )  # fmt: skip
        states.append(outcome(lambda: admin.delete_consumer_groups([name])[name].result(WITHIN_S)))
    wait_for(lambda: described().state == ConsumerGroupState.EMPTY)
    states.append(outcome(lambda: admin.delete_consumer_groups([name])[name].result(WITHIN_S)))
    states.append(outcome(lambda: admin.delete_consumer_groups([name])[name].result(WITHIN_S)))
    return states


@program
def groups_member_without_id_is_given_one(engine: Engine, name: str) -> Any:
    with engine.raw("my-client") as client:
        told = client.call("join_group", 9, **join_body(name))
        prefix, rest = told.member_id[:10], told.member_id[10:]
        return plain(told.error_code), prefix, str(uuid.UUID(rest)) == rest
