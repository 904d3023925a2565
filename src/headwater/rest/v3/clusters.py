"""/v3/clusters and their brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.rest.v3.links import Links, links_of, not_found

if TYPE_CHECKING:
    from confluent_kafka import Node
    from confluent_kafka.admin import DescribeClusterResult

    from headwater.http.answers import Answer
    from headwater.http.request import Request
    from headwater.rest.cluster import Cluster
    from headwater.rest.service import RestService


async def list_clusters(service: RestService, request: Request) -> Answer:
    """Answer GET /v3/clusters."""
    found = await service.cluster.ask(lambda it: it.describe())
    links = Links(service, request, found.cluster_id or "")
    itself = service.url(request, "/v3/clusters")
    metadata = {"self": itself, "next": None}
    data = [_cluster(links, found)]
    return links.answer({"kind": "KafkaClusterList", "metadata": metadata, "data": data})


async def get_cluster(service: RestService, request: Request) -> Answer:
    """Answer GET /v3/clusters/{cluster_id}."""
    links = await links_of(service, request)
    return links.answer(_cluster(links, await service.cluster.ask(lambda it: it.describe())))


async def list_brokers(service: RestService, request: Request) -> Answer:
    """Answer GET .../brokers."""
    links = await links_of(service, request)
    brokers = await service.cluster.ask(lambda it: it.brokers())
    return links.list("KafkaBrokerList", ("brokers",), [_broker(links, each) for each in brokers])


async def get_broker(service: RestService, request: Request) -> Answer:
    """Answer GET .../brokers/{broker_id}."""
    links = await links_of(service, request)
    wanted = request.parameters["broker_id"]
    return links.answer(_broker(links, await service.cluster.ask(lambda it: broker(it, wanted))))


def broker(cluster: Cluster, id_: str) -> Node:
    """Return a broker by the id in a path; raises HttpError 404."""
    for each in cluster.brokers():
        if str(each.id) == id_:
            return each
    raise not_found(f"Broker {id_}")


def _cluster(links: Links, found: DescribeClusterResult) -> dict[str, Any]:
    controller = found.controller
    return links.resource(
        "KafkaCluster",
        (),
        (),
        controller=None if controller is None else links.related("brokers", controller.id),
        acls=links.related("acls"),
        brokers=links.related("brokers"),
        broker_configs=links.related("broker-configs"),
        consumer_groups=links.related("consumer-groups"),
        topics=links.related("topics"),
        partition_reassignments=links.related("topics", "-", "partitions", "-", "reassignment"),
    )


def _broker(links: Links, node: Node) -> dict[str, Any]:
    place = ("brokers", node.id)
    return links.resource(
        "KafkaBroker",
        place,
        ("broker", node.id),
        broker_id=node.id,
        host=node.host,
        port=node.port,
        rack=node.rack,
        configs=links.related(*place, "configs"),
        partition_replicas=links.related(*place, "partition-replicas"),
    )
