"""/topics and /brokers: what there is in the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from confluent_kafka.admin import ConfigResource

from headwater.http.answers import Answer, answer

if TYPE_CHECKING:
    from confluent_kafka import TopicPartitionInfo

    from headwater.http.request import Request
    from headwater.rest.cluster import Cluster
    from headwater.rest.service import RestService


async def list_topics(service: RestService, request: Request) -> Answer:
    """Answer GET /topics."""
    return answer(sorted((await service.cluster.ask(lambda it: it.metadata())).topics))


async def get_topic(service: RestService, request: Request) -> Answer:
    """Answer GET /topics/{topic}."""
    name = request.parameters["topic"]

    def ask(cluster: Cluster) -> dict[str, Any]:
        described = cluster.topic(name)
        configs = cluster.configs(ConfigResource.Type.TOPIC, name)
        return {
            "name": name,
            "configs": {entry.name: entry.value for entry in configs.values()},
            "partitions": [_partition(each) for each in described.partitions],
        }

    return answer(await service.cluster.ask(ask))


async def list_partitions(service: RestService, request: Request) -> Answer:
    """Answer GET /topics/{topic}/partitions."""
    name = request.parameters["topic"]
    topic = await service.cluster.ask(lambda it: it.topic(name))
    return answer([_partition(each) for each in topic.partitions])


async def get_partition(service: RestService, request: Request) -> Answer:
    """Answer GET /topics/{topic}/partitions/{partition}."""
    topic, number = request.parameters["topic"], request.parameters["partition"]
    return answer(_partition(await service.cluster.ask(lambda it: it.partition(topic, number))))


async def get_offsets(service: RestService, request: Request) -> Answer:
    """Answer GET /topics/{topic}/partitions/{partition}/offsets."""
    topic, number = request.parameters["topic"], request.parameters["partition"]
    first, end = await service.cluster.ask(
        lambda it: it.ends(topic, it.partition(topic, number).id)
    )
    return answer({"beginning_offset": first, "end_offset": end})


async def list_brokers(service: RestService, request: Request) -> Answer:
    """Answer GET /brokers."""
    brokers = await service.cluster.ask(lambda it: it.brokers())
    return answer({"brokers": [broker.id for broker in brokers]})


async def root(service: RestService, request: Request) -> Answer:
    """Answer GET and POST /: the proxy is there."""
    return answer({})


def _partition(partition: TopicPartitionInfo) -> dict[str, Any]:
    leader = None if partition.leader is None else partition.leader.id
    in_sync = {node.id for node in partition.isr}
    return {
        "partition": partition.id,
        "leader": leader,
        "replicas": [
            {"broker": node.id, "leader": node.id == leader, "in_sync": node.id in in_sync}
            for node in partition.replicas
        ],
    }
