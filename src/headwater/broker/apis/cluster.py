"""DescribeCluster, DescribeTopicPartitions, ElectLeaders and ListPartitionReassignments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.broker import authorizer
from headwater.broker.authorizer import CLUSTER
from headwater.broker.topics.topic_names import name_error
from headwater.protocol import messages
from headwater.protocol.acls import AclOperation
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode, KafkaError
from headwater.protocol.messages import field
from headwater.protocol.metadata import UNKNOWN_OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.broker.broker import Broker
    from headwater.broker.requests.request import Request, Response
    from headwater.broker.topics.topics import Topic

_BROKERS, _CONTROLLERS = 1, 2
_PREFERRED, _UNCLEAN = 0, 1


def describe_cluster(broker: Broker, request: Request) -> Response:
    """Describe the cluster, which is this broker."""
    entity = _decode(ApiKey.DESCRIBE_CLUSTER, request)
    endpoint_type = field(entity, "endpoint_type", _BROKERS)
    if endpoint_type != _BROKERS:
        return _encode(ApiKey.DESCRIBE_CLUSTER, request, _wrong_endpoint(endpoint_type))
    host, port = broker.advertised(request.session.listener)
    tree = {
        "error_code": ErrorCode.NONE,
        "endpoint_type": _BROKERS,
        "cluster_id": broker.cluster_id,
        "controller_id": broker.node_id,
        "brokers": [
            {
                "broker_id": broker.node_id,
                "host": host,
                "port": port,
                "rack": broker.config.text("broker.rack"),
            }
        ],
        "cluster_authorized_operations": UNKNOWN_OPERATIONS,
    }
    if entity.include_cluster_authorized_operations:
        may_ask = request.authorize(AclOperation.DESCRIBE, CLUSTER)
        operations = request.authorized_operations(CLUSTER) if may_ask else 0
        tree["cluster_authorized_operations"] = operations
    return _encode(ApiKey.DESCRIBE_CLUSTER, request, tree)


def describe_topic_partitions(broker: Broker, request: Request) -> Response:
    """Describe topics partition by partition, as many as the limit allows, from a cursor on."""
    entity = _decode(ApiKey.DESCRIBE_TOPIC_PARTITIONS, request)
    names = sorted({topic.name for topic in entity.topics}) or sorted(
        name
        for name in broker.topics.by_name
        if request.probe(AclOperation.DESCRIBE, authorizer.topic(name))
    )
    cursor = entity.cursor
    start = (cursor.topic_name, cursor.partition_index) if cursor is not None else ("", 0)
    if cursor is not None and (start[1] < 0 or (entity.topics and start[0] not in names)):
        asked = [topic.name for topic in entity.topics]
        refused = [{"error_code": ErrorCode.INVALID_REQUEST, "name": name} for name in asked]
        return _encode(ApiKey.DESCRIBE_TOPIC_PARTITIONS, request, {"topics": refused})
    most = broker.config.integer("max.request.partition.size.limit")
    left = max(1, min(entity.response_partition_limit, most))
    topics: list[dict[str, Any]] = []
    next_cursor = None
    for name in names:
        if name < start[0]:
            continue
        if not _may_describe(request, name):
            topics.append({"error_code": ErrorCode.TOPIC_AUTHORIZATION_FAILED, "name": name})
            continue
        topic = broker.topics.by_name.get(name)
        if topic is None:
            topics.append(_missing(request, name))
            continue
        first = start[1] if name == start[0] else 0
        if left == 0:
            next_cursor = {"topic_name": name, "partition_index": first}
            break
        last = min(first + left, len(topic.partitions))
        topics.append(_topic(broker, request, topic, first, last))
        left -= max(0, last - first)
        if last < len(topic.partitions):
            next_cursor = {"topic_name": name, "partition_index": last}
            break
    tree = {"topics": topics, "next_cursor": next_cursor}
    return _encode(ApiKey.DESCRIBE_TOPIC_PARTITIONS, request, tree)


def elect_leaders(broker: Broker, request: Request) -> Response:
    """Say that no election is needed: this broker leads everything."""
    entity = _decode(ApiKey.ELECT_LEADERS, request)
    try:
        request.require(AclOperation.ALTER, CLUSTER)
    except KafkaError as error:
        return _encode(ApiKey.ELECT_LEADERS, request, _no_elections(entity, error))
    is_known = field(entity, "election_type", _PREFERRED) in (_PREFERRED, _UNCLEAN)
    wanted: list[tuple[str, Sequence[int]]]
    if entity.topic_partitions is None:
        wanted = [(name, ()) for name in broker.topics.by_name]
    else:
        wanted = [(topic.topic, topic.partitions) for topic in entity.topic_partitions]
    results = [
        {
            "topic": name,
            "partition_result": [
                _election(broker, name, index, is_known=is_known) for index in indexes
            ],
        }
        for name, indexes in wanted
    ]
    code = ErrorCode.NONE if is_known else ErrorCode.INVALID_REQUEST
    tree = {"error_code": code, "replica_election_results": results}
    return _encode(ApiKey.ELECT_LEADERS, request, tree)


def list_partition_reassignments(broker: Broker, request: Request) -> Response:
    """Say that no partition moves: there is nowhere to move to."""
    _decode(ApiKey.LIST_PARTITION_REASSIGNMENTS, request)
    tree: dict[str, Any] = {"error_code": ErrorCode.NONE, "topics": []}
    try:
        request.require(AclOperation.DESCRIBE, CLUSTER)
    except KafkaError as error:
        tree.update(error_code=error.code, error_message=error.message)
    return _encode(ApiKey.LIST_PARTITION_REASSIGNMENTS, request, tree)


def _decode(api_key: ApiKey, request: Request) -> Any:
    header = request.header
    return messages.decode_request(api_key, header.api_version, request.view, header.body)


def _encode(api_key: ApiKey, request: Request, tree: dict[str, Any]) -> bytes:
    return messages.encode_response(api_key, request.header.api_version, tree)


def _wrong_endpoint(endpoint_type: int) -> dict[str, Any]:
    if endpoint_type == _CONTROLLERS:
        code = ErrorCode.MISMATCHED_ENDPOINT_TYPE
        message = "this listener is a broker's, and the client asked for a controller's"
    else:
        code = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
        message = f"there is no endpoint type {endpoint_type}"
    return {
        "error_code": code,
        "error_message": message,
        "endpoint_type": _BROKERS,
        "cluster_id": "",
        "controller_id": -1,
        "cluster_authorized_operations": UNKNOWN_OPERATIONS,
    }


def _may_describe(request: Request, name: str) -> bool:
    return request.authorize(AclOperation.DESCRIBE, authorizer.topic(name))


def _missing(request: Request, name: str) -> dict[str, Any]:
    invalid = name_error(name) is not None
    return {
        "error_code": ErrorCode.INVALID_TOPIC_EXCEPTION
        if invalid
        else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        "name": name,
        "topic_authorized_operations": request.authorized_operations(authorizer.topic(name)),
    }


def _topic(broker: Broker, request: Request, topic: Topic, first: int, last: int) -> dict[str, Any]:
    return {
        "error_code": ErrorCode.NONE,
        "name": topic.name,
        "topic_id": topic.topic_id,
        "is_internal": topic.is_internal,
        "partitions": [
            {
                "error_code": ErrorCode.NONE,
                "partition_index": partition.index,
                "leader_id": broker.node_id,
                "leader_epoch": partition.leader_epoch,
                "replica_nodes": [broker.node_id],
                "isr_nodes": [broker.node_id],
                "eligible_leader_replicas": [],
                "last_known_elr": [],
                "offline_replicas": [],
            }
            for partition in topic.partitions[first:last]
        ],
        "topic_authorized_operations": request.authorized_operations(authorizer.topic(topic.name)),
    }


def _no_elections(entity: Any, error: KafkaError) -> dict[str, Any]:
    return {
        "error_code": error.code,
        "replica_election_results": [
            {
                "topic": topic.topic,
                "partition_result": [
                    {"partition_id": index, "error_code": error.code} for index in topic.partitions
                ],
            }
            for topic in entity.topic_partitions or ()
        ],
    }


def _election(broker: Broker, topic: str, index: int, *, is_known: bool) -> dict[str, Any]:
    partition = broker.topics.partition(topic, index)
    if not is_known:
        code, message = ErrorCode.INVALID_REQUEST, "there is no election of this type"
    elif isinstance(partition, ErrorCode):
        code, message = partition, f"there is no partition {topic}-{index}"
    else:
        code, message = ErrorCode.ELECTION_NOT_NEEDED, "the only broker leads this partition"
    return {"partition_id": index, "error_code": code, "error_message": message}
