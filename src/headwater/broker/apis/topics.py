"""CreateTopics, DeleteTopics and CreatePartitions."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from headwater.broker import authorizer
from headwater.broker.authorizer import CLUSTER
from headwater.broker.config.entries import TopicEntries
from headwater.broker.requests.log_errors import error_code_of
from headwater.broker.topics.topic_creation import MAX_NEW_PARTITIONS, WantedTopic, check_new_topic
from headwater.broker.topics.topic_names import new_id
from headwater.log.errors import LogError
from headwater.protocol import messages
from headwater.protocol.acls import AclOperation
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode, KafkaError
from headwater.protocol.messages import field

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from headwater.broker.broker import Broker
    from headwater.broker.requests.request import Request, Response
    from headwater.broker.topics.topics import NewTopic, Topic

    Charge = Callable[[int], None]
    """Takes partitions from the client's quota; raises KafkaError if there are none left."""

_DELETION_DISABLED_CODE = 3
"""From this version of DeleteTopics on, clients know TOPIC_DELETION_DISABLED."""


def create_topics(broker: Broker, request: Request) -> Awaitable[Response]:
    """Create the topics that a client describes, or only check whether they could be."""
    version = request.header.api_version
    entity = messages.decode_request(
        ApiKey.CREATE_TOPICS, version, request.view, request.header.body
    )
    wanted = [_wanted(topic) for topic in entity.topics]
    charge = _charge(request, strict_from=6)

    async def respond() -> Response:
        results = await broker.topics.changes.run(
            lambda: _create(broker, request, wanted, charge, validate_only=entity.validate_only)
        )
        return messages.encode_response(ApiKey.CREATE_TOPICS, version, {"topics": results})

    return respond()


def delete_topics(broker: Broker, request: Request) -> Awaitable[Response]:
    """Delete the topics that a client names or gives the ids of."""
    version = request.header.api_version
    entity = messages.decode_request(
        ApiKey.DELETE_TOPICS, version, request.view, request.header.body
    )
    if version >= 6:
        wanted = [(topic.name, field(topic, "topic_id")) for topic in entity.topics]
    else:
        wanted = [(name, None) for name in entity.topic_names]
    charge = _charge(request, strict_from=5)

    async def respond() -> Response:
        results = await broker.topics.changes.run(lambda: _delete(broker, request, wanted, charge))
        return messages.encode_response(ApiKey.DELETE_TOPICS, version, {"responses": results})

    return respond()


def create_partitions(broker: Broker, request: Request) -> Awaitable[Response]:
    """Give topics more partitions, or only check whether they could get them."""
    version = request.header.api_version
    entity = messages.decode_request(
        ApiKey.CREATE_PARTITIONS, version, request.view, request.header.body
    )
    charge = _charge(request, strict_from=3)

    async def respond() -> Response:
        results = await broker.topics.changes.run(
            lambda: _grow_all(broker, request, entity, charge)
        )
        return messages.encode_response(ApiKey.CREATE_PARTITIONS, version, {"results": results})

    return respond()


def _charge(request: Request, strict_from: int) -> Charge:
    throttle = request.throttle
    if throttle is None:
        return lambda partitions: None
    return partial(throttle.charge_mutation, strict=request.header.api_version >= strict_from)


def _wanted(topic: Any) -> WantedTopic:
    return WantedTopic(
        topic.name,
        topic.num_partitions,
        topic.replication_factor,
        [(a.partition_index, a.broker_ids) for a in topic.assignments],
        [(c.name, c.value) for c in topic.configs],
    )


async def _create(
    broker: Broker,
    request: Request,
    wanted: list[WantedTopic],
    charge: Charge,
    *,
    validate_only: bool,
) -> list[dict[str, Any]]:
    may_create_all = request.probe(AclOperation.CREATE, CLUSTER)
    new: dict[str, NewTopic] = {}
    results: dict[str, dict[str, Any]] = {}
    counts = Counter(topic.name for topic in wanted)
    for topic in wanted:
        try:
            if counts[topic.name] > 1:
                raise KafkaError(
                    ErrorCode.INVALID_REQUEST, f"the request names the topic '{topic.name}' twice"
                )
            request.require(
                AclOperation.CREATE, authorizer.topic(topic.name), is_covered=may_create_all
            )
            checked = check_new_topic(broker.topics, broker.config, topic)
            charge(checked.partitions)
            new[topic.name] = checked
        except KafkaError as error:
            results[topic.name] = _failed(topic.name, error)
    try:
        _check_total(sum(topic.partitions for topic in new.values()))
    except KafkaError as error:
        results.update((name, _failed(name, error)) for name in new)
        new = {}
    entries = TopicEntries(broker.config)
    if validate_only:
        results.update(
            (name, _created(request, topic, new_id(), entries)) for name, topic in new.items()
        )
    elif new:
        for name, made in (await _create_all(broker, list(new.values()))).items():
            results[name] = (
                _failed(name, made)
                if isinstance(made, KafkaError)
                else _created(request, new[name], made.topic_id, entries)
            )
    return [results[name] for name in counts]


async def _create_all(broker: Broker, new: list[NewTopic]) -> dict[str, Topic | KafkaError]:
    try:
        made = await broker.topics.create(new)
    except LogError as error:
        made = {topic.name: error for topic in new}
    return {
        name: _as_kafka_error(result) if isinstance(result, LogError) else result
        for name, result in made.items()
    }


def _created(
    request: Request, topic: NewTopic, topic_id: bytes, entries: TopicEntries
) -> dict[str, Any]:
    if not request.probe(AclOperation.DESCRIBE_CONFIGS, authorizer.topic(topic.name)):
        # The topic is there; what it is like is not for this client.
        return {
            "name": topic.name,
            "topic_id": topic_id,
            "error_code": ErrorCode.NONE,
            "topic_config_error_code": ErrorCode.TOPIC_AUTHORIZATION_FAILED,
            "num_partitions": -1,
            "replication_factor": -1,
            "configs": [],
        }
    return {
        "name": topic.name,
        "topic_id": topic_id,
        "error_code": ErrorCode.NONE,
        "num_partitions": topic.partitions,
        "replication_factor": 1,
        "configs": [
            {
                "name": entry.name,
                "value": entry.value,
                "read_only": entry.is_read_only,
                "config_source": entry.source,
                "is_sensitive": entry.is_sensitive,
            }
            for entry in entries.of(topic.configs)
        ],
    }


def _failed(name: str, error: KafkaError) -> dict[str, Any]:
    return {
        "name": name,
        "error_code": error.code,
        "error_message": error.message,
        "num_partitions": -1,
        "replication_factor": -1,
        "configs": [],
    }


async def _delete(
    broker: Broker,
    request: Request,
    wanted: list[tuple[str | None, bytes | None]],
    charge: Charge,
) -> list[dict[str, Any]]:
    if not broker.config.boolean("delete.topic.enable"):
        code = (
            ErrorCode.TOPIC_DELETION_DISABLED
            if request.header.api_version >= _DELETION_DISABLED_CODE
            else ErrorCode.INVALID_REQUEST
        )
        error = KafkaError(code, "topics cannot be deleted: delete.topic.enable is false")
        return [_not_deleted(name, topic_id, error) for name, topic_id in wanted]
    may_delete_all = request.probe(AclOperation.DELETE, CLUSTER)
    counts = Counter(wanted)
    found: list[Topic] = []
    results = []
    for (name, topic_id), count in counts.items():
        try:
            if count > 1:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "the request names the topic twice")
            topic = _find(broker, name, topic_id, request, may_all=may_delete_all)
            if topic in found:
                # As in Kafka one answer for both, and the topic stays.
                found.remove(topic)
                name, topic_id = topic.name, topic.topic_id
                raise KafkaError(
                    ErrorCode.INVALID_REQUEST, "the request has the topic's name and its id"
                )
            charge(len(topic.partitions))
            found.append(topic)
        except KafkaError as error:
            results.append(_not_deleted(name, topic_id, error))
    if not found:
        return results
    try:
        await broker.topics.delete(found)
    except LogError as error:
        refusal = _as_kafka_error(error)
        return results + [_not_deleted(topic.name, topic.topic_id, refusal) for topic in found]
    return results + [
        {"name": topic.name, "topic_id": topic.topic_id, "error_code": ErrorCode.NONE}
        for topic in found
    ]


def _find(
    broker: Broker, name: str | None, topic_id: bytes | None, by: Request, *, may_all: bool
) -> Topic:
    """Find a topic that is to go; `by` has to have the right, unless it may delete all."""
    if name is not None and topic_id is not None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "give the topic's name or its id, not both")
    if name is not None:
        by.require(AclOperation.DESCRIBE, authorizer.topic(name), is_covered=may_all)
        topic = broker.topics.by_name.get(name)
        if topic is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic '{name}'")
        by.require(AclOperation.DELETE, authorizer.topic(name), is_covered=may_all)
        return topic
    if topic_id is None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "give the topic's name or its id")
    topic = broker.topics.by_id.get(topic_id)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID, "there is no topic with this id")
    resource = authorizer.topic(topic.name)
    if not by.authorize(AclOperation.DELETE, resource, is_covered=may_all):
        # The name is not told: it may be all that this client does not know.
        raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    return topic


def _not_deleted(name: str | None, topic_id: bytes | None, error: KafkaError) -> dict[str, Any]:
    return {
        "name": name,
        "topic_id": topic_id,
        "error_code": error.code,
        "error_message": error.message,
    }


async def _grow_all(
    broker: Broker, request: Request, entity: Any, charge: Charge
) -> list[dict[str, Any]]:
    counts = Counter(topic.name for topic in entity.topics)
    results: dict[str, dict[str, Any]] = {}
    for wanted in entity.topics:
        result = {"name": wanted.name, "error_code": ErrorCode.NONE, "error_message": None}
        results[wanted.name] = result
        try:
            if counts[wanted.name] > 1:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "the request names the topic twice")
            request.require(AclOperation.ALTER, authorizer.topic(wanted.name))
            topic = _check_growth(broker, wanted)
            charge(wanted.count - len(topic.partitions))
            if not entity.validate_only:
                await broker.topics.add_partitions(topic, wanted.count)
        except KafkaError as error:
            result["error_code"], result["error_message"] = error.code, error.message
        except LogError as error:
            result["error_code"], result["error_message"] = error_code_of(error), str(error)
    return list(results.values())


def _check_growth(broker: Broker, wanted: Any) -> Topic:
    topic = broker.topics.by_name.get(wanted.name)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic '{wanted.name}'")
    has = len(topic.partitions)
    if wanted.count <= has:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS,
            f"the topic '{topic.name}' has {has} partitions already, and {wanted.count} are not"
            " more; partitions can only be added",
        )
    added = wanted.count - has
    if wanted.assignments is not None:
        if len(wanted.assignments) != added:
            raise KafkaError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"{added} partitions are to be added, and {len(wanted.assignments)} assignments"
                " are given",
            )
        for assignment in wanted.assignments:
            broker.topics.replication.check_replicas(topic.name, assignment.broker_ids)
    _check_total(added)
    return topic


def _check_total(partitions: int) -> None:
    if partitions > MAX_NEW_PARTITIONS:
        raise KafkaError(
            ErrorCode.POLICY_VIOLATION,
            f"one request may create {MAX_NEW_PARTITIONS} partitions, and this asks for"
            f" {partitions}",
        )


def _as_kafka_error(error: LogError) -> KafkaError:
    return KafkaError(error_code_of(error), str(error))
