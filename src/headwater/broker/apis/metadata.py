"""Metadata: the broker, its topics and their partitions; topics may come into being here."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from headwater.broker.authorized_operations import ON_CLUSTER, ON_TOPIC
from headwater.broker.internal_topics import blueprint
from headwater.broker.topic_creation import WantedTopic, check_new_topic
from headwater.broker.topic_names import INTERNAL_TOPICS, name_error
from headwater.log.errors import LogError
from headwater.protocol import metadata as codec
from headwater.protocol.errors import ErrorCode, KafkaError
from headwater.protocol.metadata import (
    UNKNOWN_OPERATIONS,
    BrokerMetadata,
    MetadataRequest,
    MetadataRequestTopic,
    TopicMetadata,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable

    from headwater.broker.broker import Broker
    from headwater.broker.request import Request, Response

logger = logging.getLogger("headwater.broker")

_TOPIC_IDS_ALONE = 12


def metadata(broker: Broker, request: Request) -> Response | Awaitable[Response]:
    """Describe the topics that the client names, or all, and create those that it lacks."""
    version = request.header.api_version
    wanted = codec.decode_request(version, request.view, request.header.body)
    if wanted.topics is None:
        return _encode(
            broker, request, wanted, [t.metadata for t in broker.topics.by_name.values()]
        )
    if any(_is_malformed(topic, version) for topic in wanted.topics):
        return _refuse(version, wanted.topics)
    if wanted.allow_auto_topic_creation and broker.config.boolean("auto.create.topics.enable"):
        missing = [
            topic.name
            for topic in wanted.topics
            if topic.name is not None
            and topic.topic_id is None
            and topic.name not in broker.topics.by_name
            and name_error(topic.name) is None
        ]
        if missing:
            return _create_and_describe(broker, request, wanted, missing)
    return _encode(broker, request, wanted, _find(broker, wanted.topics))


def _is_malformed(topic: MetadataRequestTopic, version: int) -> bool:
    if version < _TOPIC_IDS_ALONE:
        return topic.topic_id is not None
    return topic.name is None and topic.topic_id is None


def _refuse(version: int, topics: list[MetadataRequestTopic]) -> bytes:
    code = ErrorCode.INVALID_REQUEST
    refused = [TopicMetadata(code, topic.name or "", topic.topic_id) for topic in topics]
    return codec.encode_response(version, [], None, -1, refused, error_code=code)


def _find(broker: Broker, topics: Iterable[MetadataRequestTopic]) -> list[TopicMetadata]:
    # A topic that is named twice is described once.
    return [_describe(broker, topic) for topic in dict.fromkeys(topics)]


def _describe(broker: Broker, wanted: MetadataRequestTopic) -> TopicMetadata:
    if wanted.topic_id is not None:
        topic = broker.topics.by_id.get(wanted.topic_id)
        if topic is None:
            return TopicMetadata(ErrorCode.UNKNOWN_TOPIC_ID, None, wanted.topic_id)
        return topic.metadata
    name = wanted.name or ""
    topic = broker.topics.by_name.get(name)
    if topic is not None:
        return topic.metadata
    invalid = name_error(name) is not None
    code = ErrorCode.INVALID_TOPIC_EXCEPTION if invalid else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return TopicMetadata(code, name, is_internal=name in INTERNAL_TOPICS)


async def _create_and_describe(
    broker: Broker, request: Request, wanted: MetadataRequest, missing: list[str]
) -> Response:
    failed = await broker.topics.changes.run(lambda: _create(broker, missing))
    found = [
        topic._replace(error_code=failed[topic.name]) if topic.name in failed else topic
        for topic in _find(broker, wanted.topics or [])
    ]
    return _encode(broker, request, wanted, found)


async def _create(broker: Broker, names: list[str]) -> dict[str | None, ErrorCode]:
    new = []
    failed: dict[str | None, ErrorCode] = {}
    for name in dict.fromkeys(names):
        if name in broker.topics.by_name:
            continue  # another client was quicker
        partitions, configs = blueprint(name, broker.config)
        wanted = WantedTopic(name, partitions, configs=tuple(configs.items()))
        try:
            new.append(check_new_topic(broker.topics, broker.config, wanted))
        except KafkaError as error:
            logger.warning("can't create the topic that a client asked for: %s", error)
            failed[name] = error.code
    try:
        made = await broker.topics.create(new)
    except LogError as error:
        made = {topic.name: error for topic in new}
    for name, result in made.items():
        if isinstance(result, LogError):
            logger.error("can't create the topic %s: %s", name, result)
            # What clients ask again after, and there may be space by then.
            failed[name] = ErrorCode.LEADER_NOT_AVAILABLE
        else:
            logger.info("created topic %s, which a client asked for", name)
    return failed


def _encode(
    broker: Broker, request: Request, wanted: MetadataRequest, topics: list[TopicMetadata]
) -> bytes:
    if wanted.include_topic_authorized_operations:
        topics = [
            topic._replace(authorized_operations=ON_TOPIC)
            if topic.error_code == ErrorCode.NONE
            else topic
            for topic in topics
        ]
    host, port = broker.advertised(request.session.listener)
    rack = broker.config.text("broker.rack")
    return codec.encode_response(
        request.header.api_version,
        [BrokerMetadata(broker.node_id, host, port, rack)],
        broker.cluster_id,
        broker.node_id,
        topics,
        cluster_authorized_operations=ON_CLUSTER
        if wanted.include_cluster_authorized_operations
        else UNKNOWN_OPERATIONS,
    )
