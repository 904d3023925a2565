"""Metadata: the broker, its topics and their partitions; topics may come into being here."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from headwater.broker.authorizer import CLUSTER, topic
from headwater.broker.topics.internal_topics import blueprint
from headwater.broker.topics.topic_creation import WantedTopic, check_new_topic
from headwater.broker.topics.topic_names import INTERNAL_TOPICS, name_error
from headwater.log.errors import LogError
from headwater.log.rate_limited_logger import RateLimitedLogger
from headwater.protocol import metadata as codec
from headwater.protocol.acls import AclOperation
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
    from headwater.broker.requests.request import Request, Response

logger = logging.getLogger("headwater.broker")
_failures = RateLimitedLogger(logger)

_TOPIC_IDS_ALONE = 12


def metadata(broker: Broker, request: Request) -> Response | Awaitable[Response]:
    """Describe the topics that the client names, or all, and create those that it lacks."""
    version = request.header.api_version
    wanted = codec.decode_request(version, request.view, request.header.body)
    if wanted.topics is None:
        return _encode(
            broker,
            request,
            wanted,
            [
                found.metadata
                for name, found in broker.topics.by_name.items()
                if request.probe(AclOperation.DESCRIBE, topic(name))
            ],
        )
    if any(_is_malformed(each, version) for each in wanted.topics):
        return _refuse(version, wanted.topics)
    if wanted.allow_auto_topic_creation and broker.config.boolean("auto.create.topics.enable"):
        missing = [
            each.name
            for each in wanted.topics
            if each.name is not None
            and each.topic_id is None
            and each.name not in broker.topics.by_name
            and name_error(each.name) is None
            and request.probe(AclOperation.DESCRIBE, topic(each.name))
        ]
        if missing:
            return _create_and_describe(broker, request, wanted, missing)
    return _encode(broker, request, wanted, _find(broker, request, wanted.topics))


def _is_malformed(wanted: MetadataRequestTopic, version: int) -> bool:
    if version < _TOPIC_IDS_ALONE:
        return wanted.topic_id is not None
    return wanted.name is None and wanted.topic_id is None


def _refuse(version: int, topics: list[MetadataRequestTopic]) -> bytes:
    code = ErrorCode.INVALID_REQUEST
    refused = [TopicMetadata(code, each.name or "", each.topic_id) for each in topics]
    return codec.encode_response(version, [], None, -1, refused, error_code=code)


def _find(
    broker: Broker, request: Request, topics: Iterable[MetadataRequestTopic]
) -> list[TopicMetadata]:
    # A topic that is named twice is described once.
    return [_describe(broker, request, each) for each in dict.fromkeys(topics)]


def _describe(broker: Broker, request: Request, wanted: MetadataRequestTopic) -> TopicMetadata:
    if wanted.topic_id is not None:
        found = broker.topics.by_id.get(wanted.topic_id)
        # Who may not describe a topic must not learn from its id that there is one.
        if found is None or not request.authorize(AclOperation.DESCRIBE, topic(found.name)):
            return TopicMetadata(ErrorCode.UNKNOWN_TOPIC_ID, None, wanted.topic_id)
        return found.metadata
    name = wanted.name or ""
    if not request.authorize(AclOperation.DESCRIBE, topic(name)):
        return _denied(name)
    found = broker.topics.by_name.get(name)
    if found is not None:
        return found.metadata
    invalid = name_error(name) is not None
    code = ErrorCode.INVALID_TOPIC_EXCEPTION if invalid else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return TopicMetadata(code, name, is_internal=name in INTERNAL_TOPICS)


async def _create_and_describe(
    broker: Broker, request: Request, wanted: MetadataRequest, missing: list[str]
) -> Response:
    failed: dict[str | None, ErrorCode] = {}
    may_create_all = request.probe(AclOperation.CREATE, CLUSTER)
    for name in missing:
        if not request.authorize(AclOperation.CREATE, topic(name), is_covered=may_create_all):
            failed[name] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    allowed = [name for name in missing if name not in failed]
    if allowed:
        failed |= await broker.topics.changes.run(lambda: _create(broker, allowed))
    found = [
        each._replace(error_code=failed[each.name]) if each.name in failed else each
        for each in _find(broker, request, wanted.topics or [])
    ]
    return _encode(broker, request, wanted, found)


def _denied(name: str) -> TopicMetadata:
    return TopicMetadata(
        ErrorCode.TOPIC_AUTHORIZATION_FAILED, name, is_internal=name in INTERNAL_TOPICS
    )


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
            _failures.warning(
                error.code, "can't create the topic that a client asked for: %s", error
            )
            failed[name] = error.code
    try:
        made = await broker.topics.create(new)
    except LogError as error:
        made = {each.name: error for each in new}
    for name, result in made.items():
        if isinstance(result, LogError):
            _failures.error(type(result), "can't create the topic %s: %s", name, result)
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
            each._replace(authorized_operations=request.authorized_operations(topic(each.name)))
            if each.error_code == ErrorCode.NONE and each.name is not None
            else each
            for each in topics
        ]
    cluster_operations = UNKNOWN_OPERATIONS
    if wanted.include_cluster_authorized_operations:
        may_ask = request.authorize(AclOperation.DESCRIBE, CLUSTER)
        cluster_operations = request.authorized_operations(CLUSTER) if may_ask else 0
    host, port = broker.advertised(request.session.listener)
    rack = broker.config.text("broker.rack")
    return codec.encode_response(
        request.header.api_version,
        [BrokerMetadata(broker.node_id, host, port, rack)],
        broker.cluster_id,
        broker.node_id,
        topics,
        cluster_authorized_operations=cluster_operations,
    )
