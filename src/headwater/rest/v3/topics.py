"""Topics of version 3: list, create, grow, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from confluent_kafka.admin import NewPartitions, NewTopic

from headwater.rest.errors import invalid_payload
from headwater.rest.v3.links import CREATED, NOTHING, Links, links_of

if TYPE_CHECKING:
    from confluent_kafka.admin import TopicDescription

    from headwater.http.answers import Answer
    from headwater.http.request import Request
    from headwater.rest.cluster import Cluster
    from headwater.rest.service import RestService

_BROKERS_DEFAULT = -1


class _Config(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    value: str | None = None


class _Assignment(msgspec.Struct, forbid_unknown_fields=True):
    partition_id: int
    broker_ids: list[int]


class _Create(msgspec.Struct, forbid_unknown_fields=True):
    topic_name: str
    partitions_count: int | None = None
    replication_factor: int | None = None
    # Confluent's proxy takes the one, and its description of the interface has the other.
    replicas_assignments: dict[int, list[int]] | list[_Assignment] | None = None
    configs: list[_Config] = []
    validate_only: bool = False

    @property
    def placed(self) -> dict[int, list[int]] | None:
        """The brokers of each partition, where the request says them."""
        given = self.replicas_assignments
        if isinstance(given, list):
            return {each.partition_id: each.broker_ids for each in given}
        return given


class _Grow(msgspec.Struct, forbid_unknown_fields=True):
    partitions_count: int


async def list_topics(service: RestService, request: Request) -> Answer:
    """Answer GET .../topics."""
    links = await links_of(service, request)
    operations = request.flag("include_authorized_operations")
    names = sorted((await service.cluster.ask(lambda it: it.metadata())).topics)
    page = links.page(("topics",), names)
    topics = await service.cluster.ask(lambda it: it.topics(page.items, operations=operations))
    data = [_topic(links, each) for each in topics]
    return links.list_page("KafkaTopicList", ("topics",), data, page.next)


async def get_topic(service: RestService, request: Request) -> Answer:
    """Answer GET .../topics/{topic_name}."""
    links, name = await links_of(service, request), request.parameters["topic_name"]
    operations = request.flag("include_authorized_operations")
    topic = await service.cluster.ask(lambda it: it.topic(name, operations=operations))
    return links.answer(_topic(links, topic))


async def create_topic(service: RestService, request: Request) -> Answer:
    """Answer POST .../topics."""
    links = await links_of(service, request)
    given = request.decode(_Create)
    topic = _new_topic(given)

    def ask(cluster: Cluster) -> TopicDescription | None:
        cluster.create_topic(topic, validate_only=given.validate_only)
        return None if given.validate_only else cluster.created_topic(given.topic_name)

    made = await service.cluster.ask(ask)
    if made is None:
        return links.answer(_described(links, given.topic_name, given))
    return links.answer(_topic(links, made), CREATED)


async def grow_topic(service: RestService, request: Request) -> Answer:
    """Answer PATCH .../topics/{topic_name}: give it more partitions."""
    links, name = await links_of(service, request), request.parameters["topic_name"]
    count = request.decode(_Grow).partitions_count

    def ask(cluster: Cluster) -> TopicDescription:
        cluster.topic(name)
        (future,) = cluster.admin.create_partitions([NewPartitions(name, count)]).values()
        cluster.result(future)
        return cluster.topic(name)

    return links.answer(_topic(links, await service.cluster.ask(ask)))


async def delete_topic(service: RestService, request: Request) -> Answer:
    """Answer DELETE .../topics/{topic_name}."""
    _, name = await links_of(service, request), request.parameters["topic_name"]

    def ask(cluster: Cluster) -> None:
        cluster.topic(name)
        (future,) = cluster.admin.delete_topics([name]).values()
        cluster.result(future)

    await service.cluster.ask(ask)
    return NOTHING


def _new_topic(given: _Create) -> NewTopic:
    config = {each.name: each.value or "" for each in given.configs}
    placed = given.placed
    if placed is None:
        return NewTopic(
            given.topic_name,
            given.partitions_count or _BROKERS_DEFAULT,
            given.replication_factor or _BROKERS_DEFAULT,
            config=config,
        )
    if given.partitions_count is not None or given.replication_factor is not None:
        raise invalid_payload("Give either replicas_assignments or counts")
    if sorted(placed) != list(range(len(placed))):
        raise invalid_payload("replicas_assignments names partitions from 0 up, each once")
    return NewTopic(
        given.topic_name,
        len(placed),
        replica_assignment=[placed[number] for number in range(len(placed))],
        config=config,
    )


def _topic(links: Links, topic: TopicDescription) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "is_internal": topic.is_internal,
        "replication_factor": len(topic.partitions[0].replicas) if topic.partitions else 0,
        "partitions_count": len(topic.partitions),
    }
    resource = _resource(links, topic.name, fields)
    if topic.authorized_operations is not None:
        resource["authorized_operations"] = [each.name for each in topic.authorized_operations]
    return resource


def _described(links: Links, name: str, given: _Create) -> dict[str, Any]:
    placed = given.placed or {}
    return _resource(
        links,
        name,
        {
            "is_internal": False,
            "replication_factor": given.replication_factor or len(placed.get(0, ())),
            "partitions_count": given.partitions_count or len(placed),
        },
    )


def _resource(links: Links, name: str, fields: dict[str, Any]) -> dict[str, Any]:
    place = ("topics", name)
    return links.resource(
        "KafkaTopic",
        place,
        ("topic", name),
        topic_name=name,
        **fields,
        partitions=links.related(*place, "partitions"),
        configs=links.related(*place, "configs"),
        partition_reassignments=links.related(*place, "partitions", "-", "reassignment"),
    )
