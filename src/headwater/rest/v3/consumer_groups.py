"""Consumer groups: their members, what these read, and how far behind they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from confluent_kafka import ConsumerGroupTopicPartitions
from confluent_kafka.admin import OffsetSpec

from headwater.http.errors import HttpError
from headwater.rest.errors import GROUP_NOT_FOUND
from headwater.rest.v3.links import Links, links_of, not_found

if TYPE_CHECKING:
    from collections.abc import Sequence

    from confluent_kafka.admin import ConsumerGroupDescription, MemberDescription

    from headwater.http.answers import Answer
    from headwater.http.request import Request
    from headwater.rest.cluster import Cluster
    from headwater.rest.service import RestService

# Kafka's own words for what librdkafka calls otherwise.
_STATES = {
    "PREPARING_REBALANCING": "PREPARING_REBALANCE",
    "COMPLETING_REBALANCING": "COMPLETING_REBALANCE",
}


class _Lag(NamedTuple):
    """How far a group is behind in one partition, and who reads it."""

    topic: str
    partition: int
    current: int
    end: int
    member: MemberDescription | None

    @property
    def lag(self) -> int:
        return max(0, self.end - self.current)


async def list_groups(service: RestService, request: Request) -> Answer:
    """Answer GET .../consumer-groups."""
    links = await links_of(service, request)

    listed = await service.cluster.ask(lambda it: it.result(it.admin.list_consumer_groups()))
    path = ("consumer-groups",)
    page = links.page(path, sorted(each.group_id for each in listed.valid))
    groups = await service.cluster.ask(lambda it: _describe(it, page.items))
    data = [_group(links, each) for each in groups]
    return links.list_page("KafkaConsumerGroupList", path, data, page.next)


async def get_group(service: RestService, request: Request) -> Answer:
    """Answer GET .../consumer-groups/{consumer_group_id}."""
    links = await links_of(service, request)
    return links.answer(_group(links, await _asked(service, request)))


async def list_consumers(service: RestService, request: Request) -> Answer:
    """Answer GET .../consumers."""
    links, group = await links_of(service, request), await _asked(service, request)
    place = ("consumer-groups", group.group_id, "consumers")
    data = [_consumer(links, group.group_id, each) for each in group.members]
    return links.list("KafkaConsumerList", place, data)


async def get_consumer(service: RestService, request: Request) -> Answer:
    """Answer GET .../consumers/{consumer_id}."""
    links, group = await links_of(service, request), await _asked(service, request)
    return links.answer(_consumer(links, group.group_id, _member(group, request)))


async def list_assignments(service: RestService, request: Request) -> Answer:
    """Answer GET .../consumers/{consumer_id}/assignments."""
    links, group = await links_of(service, request), await _asked(service, request)
    member = _member(group, request)
    place = ("consumer-groups", group.group_id, "consumers", member.member_id, "assignments")
    data = [
        _assignment(links, group.group_id, member.member_id, each.topic, each.partition)
        for each in member.assignment.topic_partitions
    ]
    return links.list("KafkaConsumerAssignmentList", place, data)


async def get_assignment(service: RestService, request: Request) -> Answer:
    """Answer GET .../assignments/{topic_name}/partitions/{partition_id}."""
    links, group = await links_of(service, request), await _asked(service, request)
    member = _member(group, request)
    topic, number = request.parameters["topic_name"], request.parameters["partition_id"]
    for each in member.assignment.topic_partitions:
        if (each.topic, str(each.partition)) == (topic, number):
            return links.answer(
                _assignment(links, group.group_id, member.member_id, topic, each.partition)
            )
    raise not_found(f"An assignment of {topic}-{number} to {member.member_id}")


async def list_lags(service: RestService, request: Request) -> Answer:
    """Answer GET .../lags."""
    links, group = await links_of(service, request), request.parameters["consumer_group_id"]
    lags = await service.cluster.ask(lambda it: _lags(it, group))
    place = ("consumer-groups", group, "lags")
    return links.list("KafkaConsumerLagList", place, [_lag(links, group, each) for each in lags])


async def get_lag(service: RestService, request: Request) -> Answer:
    """Answer GET .../lags/{topic_name}/partitions/{partition_id}."""
    links, group = await links_of(service, request), request.parameters["consumer_group_id"]
    topic, number = request.parameters["topic_name"], request.parameters["partition_id"]
    for each in await service.cluster.ask(lambda it: _lags(it, group)):
        if (each.topic, str(each.partition)) == (topic, number):
            return links.answer(_lag(links, group, each))
    raise not_found(f"An offset of group {group} in {topic}-{number}")


async def get_lag_summary(service: RestService, request: Request) -> Answer:
    """Answer GET .../lag-summary."""
    links, group = await links_of(service, request), request.parameters["consumer_group_id"]
    lags = await service.cluster.ask(lambda it: _lags(it, group))
    if not lags:
        raise not_found("Consumer group offsets")
    most = max(lags, key=lambda each: each.lag)
    consumer, client, instance = _who(most)
    return links.answer(
        links.resource(
            "KafkaConsumerGroupLagSummary",
            ("consumer-groups", group, "lag-summary"),
            ("consumer-group", group, "lag-summary", None),
            consumer_group_id=group,
            max_lag_consumer_id=consumer,
            max_lag_instance_id=instance,
            max_lag_client_id=client,
            max_lag_topic_name=most.topic,
            max_lag_partition_id=most.partition,
            max_lag=most.lag,
            total_lag=sum(each.lag for each in lags),
            max_lag_consumer=links.related("consumer-groups", group, "consumers", consumer),
            max_lag_partition=links.related("topics", most.topic, "partitions", most.partition),
        )
    )


async def _asked(service: RestService, request: Request) -> ConsumerGroupDescription:
    name = request.parameters["consumer_group_id"]
    return await service.cluster.ask(lambda it: _described(it, name))


def _described(cluster: Cluster, name: str) -> ConsumerGroupDescription:
    (group,) = _describe(cluster, [name])
    if group.state.name == "DEAD":
        raise HttpError(404, GROUP_NOT_FOUND, f"Consumer group id not found: '{name}'.")
    return group


def _describe(cluster: Cluster, names: Sequence[str]) -> list[ConsumerGroupDescription]:
    if not names:
        return []
    cluster.wait_for_coordinator(names[0])
    described = cluster.admin.describe_consumer_groups(list(names))
    return [cluster.result(described[name]) for name in names]


def _lags(cluster: Cluster, name: str) -> list[_Lag]:
    group = _described(cluster, name)
    asked = [ConsumerGroupTopicPartitions(name)]
    (future,) = cluster.admin.list_consumer_group_offsets(asked).values()
    committed = {
        (each.topic, each.partition): each.offset
        for each in cluster.result(future).topic_partitions or ()
        if each.offset >= 0
    }
    ends = cluster.offsets(list(committed), OffsetSpec.latest())
    readers = {
        (each.topic, each.partition): member
        for member in group.members
        for each in member.assignment.topic_partitions
    }
    return [
        _Lag(*place, offset, ends[place], readers.get(place))
        for place, offset in sorted(committed.items())
    ]


def _member(group: ConsumerGroupDescription, request: Request) -> MemberDescription:
    wanted = request.parameters["consumer_id"]
    for member in group.members:
        if member.member_id == wanted:
            return member
    raise not_found(f"Consumer {wanted} of group {group.group_id}")


def _group(links: Links, group: ConsumerGroupDescription) -> dict[str, Any]:
    place = ("consumer-groups", group.group_id)
    coordinator = group.coordinator
    state = group.state.name
    return links.resource(
        "KafkaConsumerGroup",
        place,
        ("consumer-group", group.group_id),
        consumer_group_id=group.group_id,
        is_simple=group.is_simple_consumer_group,
        partition_assignor=group.partition_assignor,
        state=_STATES.get(state, state),
        type=group.type.name,
        is_mixed_consumer_group=False,
        coordinator=None if coordinator is None else links.related("brokers", coordinator.id),
        consumers=links.related(*place, "consumers"),
        lag_summary=links.related(*place, "lag-summary"),
    )


def _consumer(links: Links, group: str, member: MemberDescription) -> dict[str, Any]:
    place = ("consumer-groups", group, "consumers", member.member_id)
    return links.resource(
        "KafkaConsumer",
        place,
        ("consumer-group", group, "consumer", member.member_id),
        consumer_group_id=group,
        consumer_id=member.member_id,
        instance_id=member.group_instance_id,
        client_id=member.client_id,
        assignments=links.related(*place, "assignments"),
    )


def _assignment(
    links: Links, group: str, member: str, topic: str, partition: int
) -> dict[str, Any]:
    of_group = ("consumer-groups", group)
    return links.resource(
        "KafkaConsumerAssignment",
        (*of_group, "consumers", member, "assignments", topic, "partitions", partition),
        ("consumer-group", group, "consumer", member, "assignment", None, "topic", topic,
         "partition", partition),
        consumer_group_id=group,
        consumer_id=member,
        topic_name=topic,
        partition_id=partition,
        partition=links.related("topics", topic, "partitions", partition),
        lag=links.related(*of_group, "lags", topic, "partitions", partition),
    )  # fmt: skip


def _lag(links: Links, group: str, lag: _Lag) -> dict[str, Any]:
    consumer, client, instance = _who(lag)
    return links.resource(
        "KafkaConsumerLag",
        ("consumer-groups", group, "lags", lag.topic, "partitions", lag.partition),
        ("consumer-group", group, "lag", lag.topic, "partition", lag.partition),
        consumer_group_id=group,
        topic_name=lag.topic,
        partition_id=lag.partition,
        consumer_id=consumer,
        instance_id=instance,
        client_id=client,
        current_offset=lag.current,
        log_end_offset=lag.end,
        lag=lag.lag,
    )


def _who(lag: _Lag) -> tuple[str, str, str | None]:
    if lag.member is None:
        return "", "", None
    return lag.member.member_id, lag.member.client_id, lag.member.group_instance_id
