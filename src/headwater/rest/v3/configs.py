"""Settings of topics, of brokers, and of all brokers together: read, set, set back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ConfigSource

from headwater.clients.raw.broker_defaults import alter_broker_defaults, broker_defaults
from headwater.http.answers import JSON, Answer, encode
from headwater.http.errors import HttpError
from headwater.rest.errors import TOPIC_NOT_FOUND, UNKNOWN_TOPIC, invalid_payload
from headwater.rest.v3.clusters import broker
from headwater.rest.v3.links import NOTHING, Links, links_of, not_found

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from headwater.http.request import Request
    from headwater.rest.cluster import Cluster
    from headwater.rest.service import RestService

_MULTI_STATUS = 207
_BROKER, _TOPIC = ConfigResource.Type.BROKER, ConfigResource.Type.TOPIC


class _Update(msgspec.Struct, forbid_unknown_fields=True):
    value: str | None = None


class _Change(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    value: str | None = None
    operation: str | None = None


class _Changes(msgspec.Struct, forbid_unknown_fields=True):
    data: list[_Change]
    validate_only: bool = False


class _ChangesOfTopic(msgspec.Struct, forbid_unknown_fields=True):
    topic_name: str
    configs: list[_Change]


class _ChangesOfTopics(msgspec.Struct, forbid_unknown_fields=True):
    data: list[_ChangesOfTopic]
    validate_only: bool = False


# Of topics


async def list_topic_configs(service: RestService, request: Request) -> Answer:
    """Answer GET .../topics/{topic_name}/configs."""
    links, topic = await links_of(service, request), request.parameters["topic_name"]
    entries = await service.cluster.ask(lambda it: _of_topic(it, topic))
    data = [_topic_config(links, topic, entry) for entry in _sorted(entries)]
    return links.list("KafkaTopicConfigList", ("topics", topic, "configs"), data)


async def list_all_topic_configs(service: RestService, request: Request) -> Answer:
    """Answer GET .../topics/-/configs."""
    links = await links_of(service, request)

    def ask(cluster: Cluster) -> list[tuple[str, ConfigEntry]]:
        names = sorted(cluster.metadata().topics)
        found = cluster.all_configs([(_TOPIC, name) for name in names])
        return [
            (name, each)
            for name, entries in zip(names, found, strict=True)
            for each in _sorted(entries)
        ]

    entries = await service.cluster.ask(ask)
    data = [_topic_config(links, topic, entry) for topic, entry in entries]
    return links.list("KafkaTopicConfigList", ("topics", "-", "configs"), data)


async def get_topic_config(service: RestService, request: Request) -> Answer:
    """Answer GET .../topics/{topic_name}/configs/{name}."""
    links, topic = await links_of(service, request), request.parameters["topic_name"]
    entries = await service.cluster.ask(lambda it: _of_topic(it, topic))
    return links.answer(_topic_config(links, topic, _named(entries, request)))


async def change_topic_config(service: RestService, request: Request) -> Answer:
    """Answer PUT and DELETE .../topics/{topic_name}/configs/{name}."""
    topic = request.parameters["topic_name"]
    return await _change(service, request, _one(request), lambda _: (_TOPIC, topic))


async def alter_topic_configs(service: RestService, request: Request) -> Answer:
    """Answer POST .../topics/{topic_name}/configs:alter."""
    topic = request.parameters["topic_name"]
    return await _change(service, request, request.decode(_Changes), lambda _: (_TOPIC, topic))


async def alter_configs_of_topics(service: RestService, request: Request) -> Answer:
    """Answer POST .../topics/-/configs:alter: each topic by itself, and tell of those that fail."""
    await links_of(service, request)
    given = request.decode(_ChangesOfTopics)
    if not given.data:
        raise invalid_payload("data may not be empty")
    failures = []
    for each in given.data:
        resource = _TOPIC, each.topic_name
        changes = _Changes(each.configs, given.validate_only)
        try:
            await _change(service, request, changes, partial(_always, resource))
        except HttpError as failure:
            code = UNKNOWN_TOPIC if failure.code == TOPIC_NOT_FOUND else failure.code
            told = {"error_code": code, "message": failure.message}
            failures.append({"topic_name": each.topic_name, **told})
    if not failures:
        return NOTHING
    return Answer(encode({"failures": failures}), _MULTI_STATUS, JSON)


# Of brokers


async def list_broker_configs(service: RestService, request: Request) -> Answer:
    """Answer GET .../brokers/{broker_id}/configs, where - stands for all brokers."""
    links, wanted = await links_of(service, request), request.parameters["broker_id"]

    def ask(cluster: Cluster) -> list[tuple[int, Sequence[ConfigEntry]]]:
        nodes = cluster.brokers() if wanted == "-" else [broker(cluster, wanted)]
        return [(node.id, _sorted(cluster.configs(_BROKER, str(node.id)))) for node in nodes]

    data = [
        _broker_config(links, id_, entry)
        for id_, entries in await service.cluster.ask(ask)
        for entry in entries
    ]
    return links.list("KafkaBrokerConfigList", ("brokers", wanted, "configs"), data)


async def get_broker_config(service: RestService, request: Request) -> Answer:
    """Answer GET .../brokers/{broker_id}/configs/{name}."""
    links, wanted = await links_of(service, request), request.parameters["broker_id"]
    id_, entries = await service.cluster.ask(
        lambda it: (broker(it, wanted).id, it.configs(_BROKER, wanted))
    )
    return links.answer(_broker_config(links, id_, _named(entries, request)))


async def change_broker_config(service: RestService, request: Request) -> Answer:
    """Answer PUT and DELETE .../brokers/{broker_id}/configs/{name}."""
    wanted = request.parameters["broker_id"]
    return await _change(
        service, request, _one(request), lambda it: (_BROKER, str(broker(it, wanted).id))
    )


async def alter_broker_configs(service: RestService, request: Request) -> Answer:
    """Answer POST .../brokers/{broker_id}/configs:alter."""
    wanted, changes = request.parameters["broker_id"], request.decode(_Changes)
    return await _change(
        service, request, changes, lambda it: (_BROKER, str(broker(it, wanted).id))
    )


# Of all brokers together


async def list_cluster_configs(service: RestService, request: Request) -> Answer:
    """Answer GET .../broker-configs."""
    links = await links_of(service, request)
    found = await service.cluster.ask(lambda it: broker_defaults(it.raw))
    entries = sorted(found, key=lambda each: each.name)
    data = [_cluster_config(links, each._asdict()) for each in entries]
    return links.list("KafkaClusterConfigList", ("broker-configs",), data)


async def get_cluster_config(service: RestService, request: Request) -> Answer:
    """Answer GET .../broker-configs/{name}."""
    links, name = await links_of(service, request), request.parameters["name"]
    for each in await service.cluster.ask(lambda it: broker_defaults(it.raw)):
        if each.name == name:
            return links.answer(_cluster_config(links, each._asdict()))
    raise not_found(f"Setting {name} of all brokers")


async def change_cluster_config(service: RestService, request: Request) -> Answer:
    """Answer PUT and DELETE .../broker-configs/{name}."""
    return await _change_all(service, request, _one(request))


async def alter_cluster_configs(service: RestService, request: Request) -> Answer:
    """Answer POST .../broker-configs:alter."""
    return await _change_all(service, request, request.decode(_Changes))


def _always(
    resource: tuple[ConfigResource.Type, str], _: Cluster
) -> tuple[ConfigResource.Type, str]:
    return resource


def _one(request: Request) -> _Changes:
    name = request.parameters["name"]
    if request.method == "DELETE":
        return _Changes([_Change(name, operation="DELETE")])
    return _Changes([_Change(name, request.decode(_Update).value)])


def _values(changes: _Changes) -> dict[str, str | None]:
    """Return what is to be set, and None for what is to be set back."""
    values: dict[str, str | None] = {}
    for each in changes.data:
        operation = (each.operation or "SET").upper()
        if operation not in ("SET", "DELETE"):
            raise invalid_payload(f"operation is SET or DELETE, not '{each.operation}'")
        values[each.name] = (each.value or "") if operation == "SET" else None
    if not values:
        raise invalid_payload("data may not be empty")
    return values


async def _change(
    service: RestService,
    request: Request,
    changes: _Changes,
    resource: Callable[[Cluster], tuple[ConfigResource.Type, str]],
) -> Answer:
    await links_of(service, request)
    # The client checks that a value is there even where the operation takes none.
    entries = [
        ConfigEntry(
            name,
            value or "",
            incremental_operation=AlterConfigOpType.DELETE
            if value is None
            else AlterConfigOpType.SET,
        )
        for name, value in _values(changes).items()
    ]

    def ask(cluster: Cluster) -> None:
        kind, name = resource(cluster)
        if kind is _TOPIC:
            cluster.topic(name)
        cluster.alter_configs(
            ConfigResource(kind, name, incremental_configs=entries),
            validate_only=changes.validate_only,
        )

    await service.cluster.ask(ask)
    return NOTHING


async def _change_all(service: RestService, request: Request, changes: _Changes) -> Answer:
    await links_of(service, request)
    values = _values(changes)
    await service.cluster.ask(
        lambda it: alter_broker_defaults(it.raw, values, validate_only=changes.validate_only)
    )
    return NOTHING


def _of_topic(cluster: Cluster, topic: str) -> Mapping[str, ConfigEntry]:
    cluster.topic(topic)  # says so where there is none
    return cluster.configs(_TOPIC, topic)


def _named(entries: Mapping[str, ConfigEntry], request: Request) -> ConfigEntry:
    name = request.parameters["name"]
    if name not in entries:
        raise not_found(f"Setting {name}")
    return entries[name]


def _sorted(entries: Mapping[str, ConfigEntry]) -> list[ConfigEntry]:
    return sorted(entries.values(), key=lambda entry: entry.name)


def _topic_config(links: Links, topic: str, entry: ConfigEntry) -> dict[str, Any]:
    return links.resource(
        "KafkaTopicConfig",
        ("topics", topic, "configs", entry.name),
        ("topic", topic, "config", entry.name),
        topic_name=topic,
        **_fields(entry),
    )


def _broker_config(links: Links, id_: int, entry: ConfigEntry) -> dict[str, Any]:
    return links.resource(
        "KafkaBrokerConfig",
        ("brokers", id_, "configs", entry.name),
        ("broker", id_, "config", entry.name),
        broker_id=id_,
        **_fields(entry),
    )


def _cluster_config(links: Links, entry: Mapping[str, Any]) -> dict[str, Any]:
    name, source = entry["name"], source_of(entry["source"])
    return links.resource(
        "KafkaClusterConfig",
        ("broker-configs", name),
        ("broker-config", name),
        config_type="BROKER",
        name=name,
        value=entry["value"],
        is_default=source == "DEFAULT_CONFIG",
        is_read_only=entry["is_read_only"],
        is_sensitive=entry["is_sensitive"],
        source=source,
        synonyms=[],
    )


def _fields(entry: ConfigEntry) -> dict[str, Any]:
    source = source_of(entry.source)
    return {
        "name": entry.name,
        "value": entry.value,
        "is_default": source == "DEFAULT_CONFIG",
        "is_read_only": entry.is_read_only,
        "is_sensitive": entry.is_sensitive,
        "source": source,
        "synonyms": [
            {"name": each.name, "value": each.value, "source": source_of(each.source)}
            for each in entry.synonyms.values()
        ],
    }


def source_of(number: int) -> str:
    """Return Kafka's name of where a setting comes from."""
    try:
        name = ConfigSource(number).name
    except ValueError:
        return "UNKNOWN"
    return "UNKNOWN" if name == "UNKNOWN_CONFIG" else name
