"""Share groups: their members, and what these read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.clients.raw.share_groups import describe_share_group, list_share_groups
from headwater.http.errors import HttpError
from headwater.rest.errors import GROUP_NOT_FOUND
from headwater.rest.v3.links import Links, links_of, not_found

if TYPE_CHECKING:
    from headwater.clients.raw.share_groups import DescribedShareGroup, ShareGroup, ShareMember
    from headwater.http.answers import Answer
    from headwater.http.request import Request
    from headwater.rest.service import RestService


async def list_groups(service: RestService, request: Request) -> Answer:
    """Answer GET .../share-groups."""
    links = await links_of(service, request)
    groups = await service.cluster.ask(lambda it: list_share_groups(it.raw))
    data = [_group(links, each) for each in groups]
    return links.list("KafkaShareGroupList", ("share-groups",), data)


async def get_group(service: RestService, request: Request) -> Answer:
    """Answer GET .../share-groups/{group_id}."""
    links, found = await links_of(service, request), await _asked(service, request)
    return links.answer(
        {
            **_group(links, found.group),
            "partition_assignor": found.assignor,
            "consumer_count": len(found.members),
        }
    )


async def list_consumers(service: RestService, request: Request) -> Answer:
    """Answer GET .../share-groups/{group_id}/consumers."""
    links, found = await links_of(service, request), await _asked(service, request)
    group = found.group.group_id
    data = [_consumer(links, group, each) for each in found.members]
    return links.list("KafkaShareGroupConsumerList", ("share-groups", group, "consumers"), data)


async def get_consumer(service: RestService, request: Request) -> Answer:
    """Answer GET .../share-groups/{group_id}/consumers/{consumer_id}."""
    links, found = await links_of(service, request), await _asked(service, request)
    return links.answer(_consumer(links, found.group.group_id, _member(found, request)))


async def list_assignments(service: RestService, request: Request) -> Answer:
    """Answer GET .../share-groups/{group_id}/consumers/{consumer_id}/assignments."""
    links, found = await links_of(service, request), await _asked(service, request)
    group, member = found.group.group_id, _member(found, request)
    place = ("share-groups", group, "consumers", member.member_id, "assignments")
    data = [_assignment(links, group, member.member_id, *each) for each in member.partitions]
    return links.list("KafkaShareGroupConsumerAssignmentList", place, data)


async def get_assignment(service: RestService, request: Request) -> Answer:
    """Answer GET .../assignments/{topic_name}/partitions/{partition_id}."""
    links, found = await links_of(service, request), await _asked(service, request)
    group, member = found.group.group_id, _member(found, request)
    topic, number = request.parameters["topic_name"], request.parameters["partition_id"]
    for name, partition in member.partitions:
        if (name, str(partition)) == (topic, number):
            return links.answer(_assignment(links, group, member.member_id, name, partition))
    raise not_found(f"An assignment of {topic}-{number} to {member.member_id}")


def _member(found: DescribedShareGroup, request: Request) -> ShareMember:
    wanted = request.parameters["consumer_id"]
    for member in found.members:
        if member.member_id == wanted:
            return member
    raise not_found(f"Consumer {wanted} of share group {found.group.group_id}")


async def _asked(service: RestService, request: Request) -> DescribedShareGroup:
    name = request.parameters["group_id"]
    found = await service.cluster.ask(lambda it: describe_share_group(it.raw, name))
    if found is None:
        raise HttpError(404, GROUP_NOT_FOUND, f"Share group id not found: '{name}'.")
    return found


def _group(links: Links, group: ShareGroup) -> dict[str, Any]:
    place = ("share-groups", group.group_id)
    return links.resource(
        "KafkaShareGroup",
        place,
        ("share-group", group.group_id),
        share_group_id=group.group_id,
        state=group.state.upper(),
        coordinator=links.related("brokers", group.coordinator.id),
        consumers=links.related(*place, "consumers"),
    )


def _consumer(links: Links, group: str, member: ShareMember) -> dict[str, Any]:
    place = ("share-groups", group, "consumers", member.member_id)
    return links.resource(
        "KafkaShareGroupConsumer",
        place,
        ("share-group", group, "consumer", member.member_id),
        share_group_id=group,
        consumer_id=member.member_id,
        client_id=member.client_id,
        assignments=links.related(*place, "assignments"),
    )


def _assignment(links: Links, group: str, member: str, topic: str, number: int) -> dict[str, Any]:
    return links.resource(
        "KafkaShareGroupConsumerAssignment",
        ("share-groups", group, "consumers", member, "assignments", topic, "partitions", number),
        ("share-group", group, "consumer", member, "topic", topic, "partition", number),
        share_group_id=group,
        consumer_id=member,
        topic_name=topic,
        partition_id=number,
        partition=links.related("topics", topic, "partitions", number),
    )
