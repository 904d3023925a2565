"""DescribeLogDirs: how much each partition takes, and how much room is left."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from headwater.broker.authorizer import CLUSTER
from headwater.protocol import messages
from headwater.protocol.acls import AclOperation
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.broker.broker import Broker
    from headwater.broker.requests.request import Request, Response
    from headwater.broker.topics.partition import Partition


def describe_log_dirs(broker: Broker, request: Request) -> Response:
    """Describe the one data directory, with all partitions or those that a client names."""
    version = request.header.api_version
    entity = messages.decode_request(
        ApiKey.DESCRIBE_LOG_DIRS, version, request.view, request.header.body
    )
    if not request.authorize(AclOperation.DESCRIBE, CLUSTER):
        tree = {"error_code": ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "results": []}
        return messages.encode_response(ApiKey.DESCRIBE_LOG_DIRS, version, tree)
    directory = broker.config.data_dir
    space = os.statvfs(directory)
    result = {
        "error_code": ErrorCode.NONE,
        "log_dir": str(directory),
        "topics": _topics(broker, entity.topics),
        "total_bytes": space.f_blocks * space.f_frsize,
        "usable_bytes": space.f_bavail * space.f_frsize,
    }
    return messages.encode_response(ApiKey.DESCRIBE_LOG_DIRS, version, {"results": [result]})


def _topics(broker: Broker, wanted: Any) -> list[dict[str, Any]]:
    topics = broker.topics.by_name
    if wanted is None:
        return [_topic(topic.name, topic.partitions) for topic in topics.values()]
    found = []
    for asked in wanted:
        topic = topics.get(asked.topic)
        if topic is not None:
            indexes = set(asked.partitions)
            partitions = [p for p in topic.partitions if p.index in indexes]
            if partitions:
                found.append(_topic(topic.name, partitions))
    return found


def _topic(name: str, partitions: Iterable[Partition]) -> dict[str, Any]:
    return {
        "name": name,
        "partitions": [
            {"partition_index": partition.index, "partition_size": partition.log.size}
            for partition in partitions
        ],
    }
