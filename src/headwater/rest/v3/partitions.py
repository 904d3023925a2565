"""Partitions, their replicas, and those that are being moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.clients.raw.reassignments import reassignments
from headwater.rest.v3.clusters import broker
from headwater.rest.v3.links import Links, links_of, not_found

if TYPE_CHECKING:
    from confluent_kafka import Node, TopicPartitionInfo

    from headwater.clients.raw.reassignments import Reassignment
    from headwater.http.answers import Answer
    from headwater.http.request import Request
    from headwater.rest.cluster import Cluster
    from headwater.rest.service import RestService


async def list_partitions(service: RestService, request: Request) -> Answer:
    """Answer GET .../partitions."""
    links, topic = await links_of(service, request), request.parameters["topic_name"]
    found = await service.cluster.ask(lambda it: it.topic(topic))
    data = [_partition(links, topic, each) for each in found.partitions]
    return links.list("KafkaPartitionList", ("topics", topic, "partitions"), data)


async def get_partition(service: RestService, request: Request) -> Answer:
    """Answer GET .../partitions/{partition_id}."""
    links, topic = await links_of(service, request), request.parameters["topic_name"]
    number = request.parameters["partition_id"]
    found = await service.cluster.ask(lambda it: it.partition(topic, number))
    return links.answer(_partition(links, topic, found))


async def get_offsets(service: RestService, request: Request) -> Answer:
    """Answer GET .../partitions/{partition_id}/offset."""
    links, topic = await links_of(service, request), request.parameters["topic_name"]
    number = request.parameters["partition_id"]

    def ask(cluster: Cluster) -> tuple[int, tuple[int, int]]:
        id_ = cluster.partition(topic, number).id
        return id_, cluster.ends(topic, id_)

    id_, (first, end) = await service.cluster.ask(ask)
    return links.answer(
        links.resource(
            "KafkaPartitionWithOffsets",
            ("topics", topic, "partitions", id_, "offset"),
            ("topic", topic, "partition", id_, "offset", None),
            topic_name=topic,
            partition_id=id_,
            earliest_offset=first,
            latest_offset=end,
        )
    )


async def list_replicas(service: RestService, request: Request) -> Answer:
    """Answer GET .../partitions/{partition_id}/replicas."""
    links, topic = await links_of(service, request), request.parameters["topic_name"]
    number = request.parameters["partition_id"]
    found = await service.cluster.ask(lambda it: it.partition(topic, number))
    place = ("topics", topic, "partitions", found.id, "replicas")
    data = [_replica(links, topic, found, node) for node in found.replicas]
    return links.list("KafkaReplicaList", place, data)


async def get_replica(service: RestService, request: Request) -> Answer:
    """Answer GET .../partitions/{partition_id}/replicas/{broker_id}."""
    links, topic = await links_of(service, request), request.parameters["topic_name"]
    number, id_ = request.parameters["partition_id"], request.parameters["broker_id"]
    found = await service.cluster.ask(lambda it: it.partition(topic, number))
    for node in found.replicas:
        if str(node.id) == id_:
            return links.answer(_replica(links, topic, found, node))
    raise not_found(f"A replica of {topic}-{number} on broker {id_}")


async def list_replicas_of_broker(service: RestService, request: Request) -> Answer:
    """Answer GET .../brokers/{broker_id}/partition-replicas."""
    links, id_ = await links_of(service, request), request.parameters["broker_id"]

    def ask(cluster: Cluster) -> list[dict[str, Any]]:
        broker(cluster, id_)
        return [
            _replica(links, topic.name, partition, node)
            for topic in cluster.topics(sorted(cluster.metadata().topics))
            for partition in topic.partitions
            for node in partition.replicas
            if str(node.id) == id_
        ]

    data = await service.cluster.ask(ask)
    return links.list("KafkaReplicaList", ("brokers", id_, "partition-replicas"), data)


async def list_reassignments(service: RestService, request: Request) -> Answer:
    """Answer GET .../partitions/-/reassignment, of a topic or, with -, of all."""
    links, topic = await links_of(service, request), request.parameters.get("topic_name", "-")
    moving = await service.cluster.ask(lambda it: reassignments(it.raw))
    data = [_reassignment(links, each) for each in moving if topic in ("-", each.topic)]
    place = ("topics", topic, "partitions", "-", "reassignment")
    return links.list("KafkaReassignmentList", place, data)


async def get_reassignment(service: RestService, request: Request) -> Answer:
    """Answer GET .../partitions/{partition_id}/reassignment."""
    links, topic = await links_of(service, request), request.parameters["topic_name"]
    number = request.parameters["partition_id"]
    for each in await service.cluster.ask(lambda it: reassignments(it.raw)):
        if (each.topic, str(each.partition)) == (topic, number):
            return links.answer(_reassignment(links, each))
    raise not_found(f"A reassignment of {topic}-{number}")


def _partition(links: Links, topic: str, partition: TopicPartitionInfo) -> dict[str, Any]:
    place = ("topics", topic, "partitions", partition.id)
    leader = partition.leader
    return links.resource(
        "KafkaPartition",
        place,
        ("topic", topic, "partition", partition.id),
        topic_name=topic,
        partition_id=partition.id,
        leader=None if leader is None else links.related(*place, "replicas", leader.id),
        replicas=links.related(*place, "replicas"),
        reassignment=links.related(*place, "reassignment"),
    )


def _replica(links: Links, topic: str, partition: TopicPartitionInfo, node: Node) -> dict[str, Any]:
    return links.resource(
        "KafkaReplica",
        ("topics", topic, "partitions", partition.id, "replicas", node.id),
        ("topic", topic, "partition", partition.id, "replica", node.id),
        topic_name=topic,
        partition_id=partition.id,
        broker_id=node.id,
        is_leader=partition.leader is not None and partition.leader.id == node.id,
        is_in_sync=any(each.id == node.id for each in partition.isr),
        broker=links.related("brokers", node.id),
    )


def _reassignment(links: Links, moving: Reassignment) -> dict[str, Any]:
    place = ("topics", moving.topic, "partitions", moving.partition)
    return links.resource(
        "KafkaReassignment",
        (*place, "reassignment"),
        ("topic", moving.topic, "partition", moving.partition, "reassignment", None),
        topic_name=moving.topic,
        partition_id=moving.partition,
        adding_replicas=moving.adding,
        removing_replicas=moving.removing,
        replicas=links.related(*place, "replicas"),
    )
