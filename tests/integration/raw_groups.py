"""A group's requests over the raw client, and a broker whose sessions end quickly."""

from __future__ import annotations

import struct
import uuid
from typing import TYPE_CHECKING, Any

from kio.schema.errors import ErrorCode
from tests.broker_process import BrokerProcess
from tests.integration.raw_client import RawClient
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pytest

QUICK: Mapping[str, str] = {
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "200",
    "group.consumer.min.session.timeout.ms": "200",
    # Waited for by few tests, and no busy machine keeps a member silent for as long.
    "group.consumer.session.timeout.ms": "3000",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "200",
    "group.consumer.assignment.interval.ms": "0",
    "offsets.topic.num.partitions": "3",
}

SESSION_MS = 10_000
NO_PROTOCOLS: tuple[Mapping[str, object], ...] = ()


def subscription(*topics: str, user_data: bytes = b"") -> bytes:
    """What a consumer sends with its JoinGroup: version 0, the topics, and data of its own."""
    names = b"".join(struct.pack(">h", len(name)) + name.encode() for name in topics)
    return (
        struct.pack(">hi", 0, len(topics)) + names + struct.pack(">i", len(user_data)) + user_data
    )


RANGE = {"name": "range", "metadata": subscription("a", user_data=b"range")}
ROUND_ROBIN = {"name": "roundrobin", "metadata": subscription("a", user_data=b"rr")}

JOIN_VERSIONS = range(10)
FIRST_JOIN_WITH_KNOWN_MEMBER = 4


def quick_broker(factory: pytest.TempPathFactory, **properties: str) -> Iterator[BrokerProcess]:
    """A broker on which sessions may be short, with its offsets topic in place."""
    process = BrokerProcess(factory.mktemp("broker") / "data", {**QUICK, **properties}).start()
    with RawClient(process) as client:
        find_coordinator(client)
        # Kafka finds its coordinator before that has read its partitions.
        names = [f"any-{number}" for number in range(20)]
        wait_for(
            lambda: {
                described.error_code
                for described in client.call("describe_groups", 5, groups=names).groups
            },
            until=lambda codes: codes == {ErrorCode.none},
        )
    yield process
    process.stop()


def find_coordinator(client: RawClient, group: str = "any") -> Any:
    """Ask until there is a coordinator: Kafka makes its topic only now."""

    def ask() -> Any:
        (found,) = client.call("find_coordinator", 4, coordinator_keys=[group]).coordinators
        assert found.error_code in (ErrorCode.none, ErrorCode.coordinator_not_available), found
        return found

    return wait_for(ask, until=lambda found: found.error_code is ErrorCode.none)


def fresh_group(prefix: str = "group") -> str:
    return f"{prefix}-{uuid.uuid4().hex[:8]}"


def join_body(
    group: str,
    member: str = "",
    *,
    instance: str | None = None,
    protocols: tuple[Mapping[str, object], ...] = (RANGE,),
    protocol_type: str = "consumer",
    session_ms: int = SESSION_MS,
    rebalance_ms: int = SESSION_MS,
) -> dict[str, Any]:
    return {
        "group_id": group,
        "member_id": member,
        "group_instance_id": instance,
        "session_timeout": session_ms,
        "rebalance_timeout": rebalance_ms,
        "protocol_type": protocol_type,
        "protocols": protocols,
    }


def join(client: RawClient, group: str, member: str = "", *, version: int = 9, **how: Any) -> Any:
    """JoinGroup; a newcomer that is told its id joins with it at once, as clients do."""
    answer = client.call("join_group", version, **join_body(group, member, **how))
    if answer.error_code is ErrorCode.member_id_required:
        assert not member, "only newcomers are given an id"
        return join(client, group, answer.member_id, version=version, **how)
    return answer


def sync(
    client: RawClient,
    group: str,
    member: str,
    generation: int,
    assignments: Mapping[str, bytes] | None = None,
    *,
    version: int = 5,
    instance: str | None = None,
    protocol_type: str | None = "consumer",
    protocol_name: str | None = "range",
) -> Any:
    given = assignments or {}
    return client.call(
        "sync_group",
        version,
        group_id=group,
        member_id=member,
        generation_id=generation,
        group_instance_id=instance,
        protocol_type=protocol_type,
        protocol_name=protocol_name,
        assignments=[{"member_id": m, "assignment": a} for m, a in given.items()],
    )


def heartbeat(
    client: RawClient,
    group: str,
    member: str,
    generation: int,
    *,
    version: int = 4,
    instance: str | None = None,
) -> ErrorCode:
    answer = client.call(
        "heartbeat",
        version,
        group_id=group,
        member_id=member,
        generation_id=generation,
        group_instance_id=instance,
    )
    return ErrorCode(answer.error_code)


def leave(
    client: RawClient, group: str, member: str, *, version: int = 5, instance: str | None = None
) -> ErrorCode:
    """LeaveGroup of one member; its own error, or that of the whole."""
    answer = client.call(
        "leave_group",
        version,
        group_id=group,
        member_id=member,
        members=[{"member_id": member, "group_instance_id": instance}],
    )
    if version >= 3 and answer.error_code is ErrorCode.none:
        (one,) = answer.members
        return ErrorCode(one.error_code)
    return ErrorCode(answer.error_code)


def stable_member(client: RawClient, group: str, **how: Any) -> Any:
    """Join and sync alone; the answer to the join."""
    joined = join(client, group, **how)
    assert joined.error_code is ErrorCode.none, joined
    assert joined.leader == joined.member_id
    name = joined.protocol_name
    synced = sync(
        client,
        group,
        joined.member_id,
        joined.generation_id,
        {joined.member_id: b"all"},
        instance=how.get("instance"),
        protocol_type=how.get("protocol_type", "consumer"),
        protocol_name=name,
    )
    assert (synced.error_code, synced.assignment) == (ErrorCode.none, b"all")
    return joined


def describe(client: RawClient, group: str, version: int = 5) -> Any:
    (described,) = client.call("describe_groups", version, groups=[group]).groups
    return described


def wait_until_empty(client: RawClient, group: str) -> None:
    """Return when the group has lost its last member."""
    wait_for(lambda: describe(client, group), until=lambda found: found.group_state == "Empty")


def wait_until_rebalancing(client: RawClient, group: str, member: str) -> None:
    """Return when a member of the first generation is told that somebody else wants to join."""
    wait_for(
        lambda: heartbeat(client, group, member, 1),
        until=lambda code: code is not ErrorCode.none,
    )


def commit(
    client: RawClient,
    group: str,
    offsets: Mapping[tuple[str, int], int],
    *,
    version: int = 9,
    member: str = "",
    generation: int = -1,
    instance: str | None = None,
    metadata: str | None = "",
    leader_epoch: int = -1,
    topic_ids: Mapping[str, uuid.UUID] | None = None,
    retention_ms: int = -1,
) -> dict[tuple[str, int], ErrorCode]:
    """OffsetCommit; the error of each partition."""
    topics: dict[str, list[dict[str, object]]] = {}
    for (topic, partition), offset in offsets.items():
        topics.setdefault(topic, []).append(
            {
                "partition_index": partition,
                "committed_offset": offset,
                "committed_leader_epoch": leader_epoch,
                "committed_metadata": metadata,
            }
        )
    ids = topic_ids or {}
    answer = client.call(
        "offset_commit",
        version,
        group_id=group,
        member_id=member,
        generation_id_or_member_epoch=generation,
        group_instance_id=instance,
        retention_time=retention_ms,
        topics=[
            {"name": name, "topic_id": ids.get(name, uuid.UUID(int=0)), "partitions": partitions}
            for name, partitions in topics.items()
        ],
    )
    names = {topic_id: name for name, topic_id in ids.items()}
    return {
        (
            names[topic.topic_id] if version >= 10 else topic.name,
            one.partition_index,
        ): one.error_code
        for topic in answer.topics
        for one in topic.partitions
    }


def committed(
    client: RawClient,
    group: str,
    partitions: Mapping[str, tuple[int, ...]] | None,
    *,
    version: int = 9,
    require_stable: bool = False,
    member: str | None = None,
    member_epoch: int = -1,
) -> Any:
    """OffsetFetch of one group by topic names: {(topic, partition): answer}, or its error."""
    wanted = None
    if partitions is not None:
        wanted = [{"name": t, "partition_indexes": p} for t, p in partitions.items()]
    if version >= 8:
        body: dict[str, object] = {
            "groups": [
                {
                    "group_id": group,
                    "topics": wanted,
                    "member_id": member,
                    "member_epoch": member_epoch,
                }
            ]
        }
    else:
        body = {"group_id": group, "topics": wanted}
    answer = client.call("offset_fetch", version, require_stable=require_stable, **body)
    if version >= 8:
        (answer,) = answer.groups
    if version >= 2 and answer.error_code is not ErrorCode.none:
        return answer.error_code
    return {
        (topic.name, one.partition_index): one
        for topic in answer.topics
        for one in topic.partitions
    }
