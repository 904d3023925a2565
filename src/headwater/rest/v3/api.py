"""The routes of version 3."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.http.errors import HttpError
from headwater.http.routes import Parameter, Route
from headwater.rest.errors import TOPIC_NOT_FOUND, UNKNOWN_TOPIC
from headwater.rest.v3 import (
    acls,
    clusters,
    configs,
    consumer_groups,
    default_configs,
    partitions,
    records,
    share_groups,
    topics,
)

if TYPE_CHECKING:
    from headwater.http.answers import Answer, Stream
    from headwater.http.request import Request
    from headwater.http.routes import Handler
    from headwater.rest.service import RestService

_CLUSTER = "/v3/clusters/{cluster_id}"
_BROKER = f"{_CLUSTER}/brokers/{{broker_id}}"
_TOPICS = f"{_CLUSTER}/topics"
_TOPIC = f"{_TOPICS}/{{topic_name}}"
_PARTITION = f"{_TOPIC}/partitions/{{partition_id}}"
_GROUP = f"{_CLUSTER}/consumer-groups/{{consumer_group_id}}"
_CONSUMER = f"{_GROUP}/consumers/{{consumer_id}}"
_SHARE_GROUP = f"{_CLUSTER}/share-groups/{{group_id}}"
_SHARE_CONSUMER = f"{_SHARE_GROUP}/consumers/{{consumer_id}}"
_PAGE = (
    Parameter("page_size", "How many to return at most.", "integer"),
    Parameter("page_token", "Where to go on, as in the link `next`.", "string"),
)
_OPERATIONS = Parameter("include_authorized_operations", "Say what the proxy may do with it.")
_ACL = tuple(
    Parameter(name, f"Only those with this {name}.", "string")
    for name in (
        "resource_type",
        "resource_name",
        "pattern_type",
        "principal",
        "host",
        "operation",
        "permission",
    )
)


def routes() -> list[Route]:
    """Return all of them; those with a - in the place of an id come before those with any id."""
    known = [*_clusters(), *_topics(), *_configs(), *_partitions(), *_groups(), *_records()]
    return [replace(route, handler=_in_words_of_version_3(route.handler)) for route in known]


def _in_words_of_version_3(handler: Handler) -> Handler:
    async def answered(service: RestService, request: Request) -> Answer | Stream:
        try:
            return await handler(service, request)
        except HttpError as failure:
            if failure.code == TOPIC_NOT_FOUND:
                raise HttpError(failure.status, UNKNOWN_TOPIC, failure.message) from None
            raise

    return answered


def _get(path: str, handler: Handler, summary: str, *query: Parameter) -> Route:
    return Route("GET", path, handler, summary, "Resource", query=query, errors=(404,))


def _list(path: str, handler: Handler, summary: str, *query: Parameter) -> Route:
    return Route(
        "GET", path, handler, summary, "ResourceList", query=(*query, *_PAGE), errors=(404,)
    )


def _change(method: str, path: str, handler: Handler, summary: str, body: str | None) -> Route:
    return Route(
        method, path, handler, summary, "Nothing", body=body, errors=(400, 404), status=204
    )


def _clusters() -> list[Route]:
    return [
        _list("/v3/clusters", clusters.list_clusters, "List clusters"),
        _get(_CLUSTER, clusters.get_cluster, "Get the cluster"),
        _list(f"{_CLUSTER}/brokers", clusters.list_brokers, "List brokers"),
        _get(_BROKER, clusters.get_broker, "Get a broker"),
        _list(
            f"{_BROKER}/partition-replicas",
            partitions.list_replicas_of_broker,
            "List a broker's replicas",
        ),
        _list(f"{_CLUSTER}/acls", acls.search_acls, "Search ACLs", *_ACL),
        Route(
            "POST", f"{_CLUSTER}/acls", acls.create_acl, "Create an ACL", "Nothing",
            body="CreateAcl", status=201,
        ),
        Route(
            "POST", f"{_CLUSTER}/acls:batch", acls.create_acls, "Create ACLs", "Nothing",
            body="CreateAcls", status=201,
        ),
        Route(
            "DELETE", f"{_CLUSTER}/acls", acls.delete_acls, "Delete ACLs", "ResourceList",
            query=_ACL, errors=(400,),
        ),
    ]  # fmt: skip


def _topics() -> list[Route]:
    return [
        _list(_TOPICS, topics.list_topics, "List topics", _OPERATIONS),
        Route(
            "POST", _TOPICS, topics.create_topic, "Create a topic", "Resource",
            body="CreateTopic", errors=(400, 422), status=201,
        ),
        _get(_TOPIC, topics.get_topic, "Get a topic", _OPERATIONS),
        Route(
            "PATCH", _TOPIC, topics.grow_topic, "Give a topic more partitions", "Resource",
            body="GrowTopic", errors=(404,),
        ),
        _change("DELETE", _TOPIC, topics.delete_topic, "Delete a topic", None),
    ]  # fmt: skip


def _configs() -> list[Route]:
    return [
        _list(f"{_TOPICS}/-/configs", configs.list_all_topic_configs, "List settings of topics"),
        Route(
            "POST", f"{_TOPICS}/-/configs:alter", configs.alter_configs_of_topics,
            "Change settings of several topics", "Nothing", body="AlterConfigsOfTopics",
            errors=(400, 422), status=204,
        ),
        _list(
            f"{_TOPIC}/default-configs",
            default_configs.list_default_configs,
            "List the settings that a new topic of this name would have",
        ),
        *_settings(
            f"{_TOPIC}/configs",
            "a topic",
            configs.list_topic_configs,
            configs.get_topic_config,
            configs.change_topic_config,
            configs.alter_topic_configs,
        ),
        *_settings(
            f"{_BROKER}/configs",
            "a broker",
            configs.list_broker_configs,
            configs.get_broker_config,
            configs.change_broker_config,
            configs.alter_broker_configs,
        ),
        *_settings(
            f"{_CLUSTER}/broker-configs",
            "all brokers",
            configs.list_cluster_configs,
            configs.get_cluster_config,
            configs.change_cluster_config,
            configs.alter_cluster_configs,
        ),
    ]  # fmt: skip


def _settings(
    path: str, whose: str, list_: Handler, get: Handler, change: Handler, alter: Handler
) -> list[Route]:
    return [
        _list(path, list_, f"List the settings of {whose}"),
        _change("POST", f"{path}:alter", alter, f"Change settings of {whose}", "AlterConfigs"),
        _get(f"{path}/{{name}}", get, f"Get a setting of {whose}"),
        _change("PUT", f"{path}/{{name}}", change, f"Set a setting of {whose}", "UpdateConfig"),
        _change("DELETE", f"{path}/{{name}}", change, f"Set a setting of {whose} back", None),
    ]


def _partitions() -> list[Route]:
    return [
        _list(f"{_TOPIC}/partitions", partitions.list_partitions, "List a topic's partitions"),
        _list(
            f"{_TOPIC}/partitions/-/reassignment",
            partitions.list_reassignments,
            "List partitions that are being moved, of a topic, or with - of all",
        ),
        _get(_PARTITION, partitions.get_partition, "Get a partition"),
        _get(f"{_PARTITION}/offset", partitions.get_offsets, "Get a partition's offsets"),
        _get(f"{_PARTITION}/reassignment", partitions.get_reassignment, "Get how it is moved"),
        _list(f"{_PARTITION}/replicas", partitions.list_replicas, "List replicas"),
        _get(f"{_PARTITION}/replicas/{{broker_id}}", partitions.get_replica, "Get a replica"),
    ]


def _groups() -> list[Route]:
    at = "{topic_name}/partitions/{partition_id}"
    return [
        _list(f"{_CLUSTER}/consumer-groups", consumer_groups.list_groups, "List consumer groups"),
        _get(_GROUP, consumer_groups.get_group, "Get a consumer group"),
        _get(f"{_GROUP}/lag-summary", consumer_groups.get_lag_summary, "Get a group's lag"),
        _list(f"{_GROUP}/lags", consumer_groups.list_lags, "List lags of a group"),
        _get(f"{_GROUP}/lags/{at}", consumer_groups.get_lag, "Get the lag in a partition"),
        _list(f"{_GROUP}/consumers", consumer_groups.list_consumers, "List members of a group"),
        _get(_CONSUMER, consumer_groups.get_consumer, "Get a member of a group"),
        _list(
            f"{_CONSUMER}/assignments", consumer_groups.list_assignments, "List what a member reads"
        ),
        _get(f"{_CONSUMER}/assignments/{at}", consumer_groups.get_assignment, "Get an assignment"),
        _list(f"{_CLUSTER}/share-groups", share_groups.list_groups, "List share groups"),
        _get(_SHARE_GROUP, share_groups.get_group, "Get a share group"),
        _list(f"{_SHARE_GROUP}/consumers", share_groups.list_consumers, "List its members"),
        _get(_SHARE_CONSUMER, share_groups.get_consumer, "Get a member of a share group"),
        _list(
            f"{_SHARE_CONSUMER}/assignments",
            share_groups.list_assignments,
            "List what a member of a share group reads",
        ),
        _get(
            f"{_SHARE_CONSUMER}/assignments/{at}",
            share_groups.get_assignment,
            "Get an assignment in a share group",
        ),
    ]


def _records() -> list[Route]:
    return [
        Route(
            "POST", f"{_TOPIC}/records", records.produce,
            "Write records, one after the other, each with its answer", "ProducedRecord",
            body="ProduceRecord", errors=(404, 422), takes_stream=True,
        ),
        Route(
            "POST", f"{_TOPIC}/records:batch", records.produce_batch, "Write a batch of records",
            "ProducedBatch", body="ProduceBatch", errors=(404, 422), status=207,
        ),
    ]  # fmt: skip
