"""DescribeConfigs, AlterConfigs, IncrementalAlterConfigs and ListConfigResources."""

from __future__ import annotations

from collections import Counter
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from headwater.broker.authorizer import CLUSTER, group, topic
from headwater.broker.config import entries as config_entries
from headwater.broker.config.changes import (
    BrokerConfigs,
    Change,
    Operation,
    TopicConfigs,
    check_node_id,
)
from headwater.broker.requests.log_errors import error_code_of
from headwater.broker.topics.topic_names import name_error
from headwater.log.errors import LogError
from headwater.logs import levels
from headwater.protocol import messages
from headwater.protocol.acls import AclOperation
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode, KafkaError
from headwater.protocol.messages import field

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from headwater.broker.broker import Broker
    from headwater.broker.config.entries import ConfigEntry
    from headwater.broker.requests.request import Request, Response

ConfigResource = tuple[int, str]


class ConfigResourceType(IntEnum):
    """What settings can belong to, numbered as Kafka numbers it."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


def describe_configs(broker: Broker, request: Request) -> Response:
    """Describe the settings of each resource that a client names."""
    version = request.header.api_version
    entity = messages.decode_request(
        ApiKey.DESCRIBE_CONFIGS, version, request.view, request.header.body
    )
    synonyms = field(entity, "include_synonyms", False)
    docs = field(entity, "include_documentation", False)
    results = []
    for resource in entity.resources:
        result = {
            "resource_type": resource.resource_type,
            "resource_name": resource.resource_name,
            "error_code": ErrorCode.NONE,
            "error_message": "",
            "configs": [],
        }
        try:
            _require(request, AclOperation.DESCRIBE_CONFIGS, resource)
            entries = _describe(broker, resource)
        except KafkaError as error:
            result["error_code"], result["error_message"] = error.code, error.message
        else:
            result["configs"] = [_entry(e, synonyms=synonyms, docs=docs) for e in entries]
        results.append(result)
    return messages.encode_response(ApiKey.DESCRIBE_CONFIGS, version, {"results": results})


def alter_configs(broker: Broker, request: Request) -> Awaitable[Response]:
    """Replace all settings of each resource that a client names."""

    def changes(resource: Any, before: dict[str, str]) -> list[Change]:
        given = [Change(c.name, Operation.SET, c.value) for c in resource.configs]
        kept = {change.name for change in given}
        return given + [Change(n, Operation.DELETE, None) for n in before if n not in kept]

    return _alter(broker, request, ApiKey.ALTER_CONFIGS, changes)


def incremental_alter_configs(broker: Broker, request: Request) -> Awaitable[Response]:
    """Change single settings of each resource that a client names."""

    def changes(resource: Any, _: dict[str, str]) -> list[Change]:
        return [Change(c.name, c.config_operation, c.value) for c in resource.configs]

    return _alter(broker, request, ApiKey.INCREMENTAL_ALTER_CONFIGS, changes)


def list_config_resources(broker: Broker, request: Request) -> Response:
    """List what has settings, of the types that a client names or of all."""
    version = request.header.api_version
    entity = messages.decode_request(
        ApiKey.LIST_CONFIG_RESOURCES, version, request.view, request.header.body
    )
    # The first version knew client metrics only.
    types = (
        set(field(entity, "resource_types", ())) if version else {ConfigResourceType.CLIENT_METRICS}
    )
    known = set(ConfigResourceType)
    tree: dict[str, Any] = {"error_code": ErrorCode.NONE, "config_resources": []}
    if not request.authorize(AclOperation.DESCRIBE_CONFIGS, CLUSTER):
        tree["error_code"] = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    elif types <= known:
        node = str(broker.node_id)
        names = {
            ConfigResourceType.TOPIC: list(broker.topics.by_name),
            ConfigResourceType.BROKER: [node],
            ConfigResourceType.BROKER_LOGGER: [node],
        }
        tree["config_resources"] = [
            {"resource_name": name, "resource_type": kind}
            for kind in types or known
            for name in names.get(ConfigResourceType(kind), ())
        ]
    else:
        tree["error_code"] = ErrorCode.UNSUPPORTED_VERSION
    return messages.encode_response(ApiKey.LIST_CONFIG_RESOURCES, version, tree)


def _require(request: Request, operation: AclOperation, resource: Any) -> None:
    """Raise KafkaError unless the client may do this to the settings of a resource."""
    match resource.resource_type:
        case ConfigResourceType.TOPIC:
            request.require(operation, topic(resource.resource_name))
        case ConfigResourceType.GROUP:
            request.require(operation, group(resource.resource_name))
        case _:
            request.require(operation, CLUSTER)


def _describe(broker: Broker, resource: Any) -> list[ConfigEntry]:
    config, name = broker.config, resource.resource_name
    # An empty list of keys means all of them, too.
    keys = frozenset(resource.configuration_keys or ()) or None
    match resource.resource_type:
        case ConfigResourceType.TOPIC:
            problem = name_error(name)
            if problem is not None:
                raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
            found = broker.topics.by_name.get(name)
            if found is None:
                raise KafkaError(
                    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic '{name}'"
                )
            return config_entries.TopicEntries(config).of(found.configs, keys)
        case ConfigResourceType.BROKER if not name:
            return config_entries.default_broker_entries(config, keys)
        case ConfigResourceType.BROKER:
            check_node_id(name, broker.node_id)
            return config_entries.broker_entries(config, keys)
        case ConfigResourceType.BROKER_LOGGER:
            check_node_id(name, broker.node_id)
            return config_entries.logger_entries(keys)
    raise _unknown_type(resource.resource_type)


def _entry(entry: ConfigEntry, *, synonyms: bool, docs: bool) -> dict[str, Any]:
    return {
        "name": entry.name,
        "value": entry.value,
        "read_only": entry.is_read_only,
        "config_source": entry.source,
        "is_sensitive": entry.is_sensitive,
        "synonyms": [
            {"name": origin.name, "value": origin.value, "source": origin.source}
            for origin in (entry.origins if synonyms else ())
        ],
        "config_type": entry.type or 0,
        "documentation": entry.doc if docs else None,
    }


def _alter(
    broker: Broker,
    request: Request,
    api_key: ApiKey,
    changes: Callable[[Any, dict[str, str]], list[Change]],
) -> Coroutine[object, object, Response]:
    version = request.header.api_version
    entity = messages.decode_request(api_key, version, request.view, request.header.body)

    async def respond() -> Response:
        results = await broker.topics.changes.run(
            lambda: _Alteration(broker, request, changes).run(entity)
        )
        return messages.encode_response(api_key, version, {"responses": results})

    return respond()


class _Alteration:
    """One request to change settings: what fails is reported, what does not fail is done."""

    def __init__(
        self,
        broker: Broker,
        request: Request,
        changes: Callable[[Any, dict[str, str]], list[Change]],
    ) -> None:
        self._broker = broker
        self._request = request
        self._api_key = request.header.api_key
        self._changes = changes
        self._topics: dict[str, dict[str, str]] = {}
        self._brokers: dict[str, dict[str, str]] = {}
        self._levels: dict[str, str | None] = {}

    async def run(self, entity: Any) -> list[dict[str, Any]]:
        counts = Counter((r.resource_type, r.resource_name) for r in entity.resources)
        errors: dict[ConfigResource, KafkaError] = {}
        for resource in entity.resources:
            key = (resource.resource_type, resource.resource_name)
            try:
                if counts[key] > 1:
                    raise KafkaError(
                        ErrorCode.INVALID_REQUEST, "the request names the resource twice"
                    )
                _require(self._request, AclOperation.ALTER_CONFIGS, resource)
                self._plan(resource)
            except KafkaError as error:
                errors[key] = error
        if not entity.validate_only:
            try:
                await self._carry_out()
            except LogError as error:
                failure = KafkaError(error_code_of(error), str(error))
                errors.update((key, failure) for key in counts if key not in errors)
        return [self._result(r, errors) for r in entity.resources]

    def _plan(self, resource: Any) -> None:
        config, name = self._broker.config, resource.resource_name
        match resource.resource_type:
            case ConfigResourceType.TOPIC:
                found = self._broker.topics.by_name.get(name)
                before = found.configs if found is not None else {}
                changes = self._changes(resource, before)
                self._topics[name] = TopicConfigs(self._broker.topics, config).after(name, changes)
            case ConfigResourceType.BROKER:
                configs = BrokerConfigs(config)
                now = dict(configs.current(name))
                self._brokers[name] = configs.after(name, now, self._changes(resource, now))
            case ConfigResourceType.BROKER_LOGGER if (
                self._api_key is ApiKey.INCREMENTAL_ALTER_CONFIGS
            ):
                check_node_id(name, config.node_id)
                self._levels.update(_plan_levels(self._changes(resource, {})))
            case _:
                raise _unknown_type(resource.resource_type)

    async def _carry_out(self) -> None:
        if self._topics:
            await self._broker.topics.set_configs(self._topics)
        if self._brokers:
            await self._broker.topics.set_broker_configs(self._brokers)
        for name, level in self._levels.items():
            levels.set_level(name, level)

    def _result(self, resource: Any, errors: dict[ConfigResource, KafkaError]) -> dict[str, Any]:
        error = errors.get((resource.resource_type, resource.resource_name))
        return {
            "error_code": error.code if error else ErrorCode.NONE,
            "error_message": error.message if error else None,
            "resource_type": resource.resource_type,
            "resource_name": resource.resource_name,
        }


def _plan_levels(changes: list[Change]) -> dict[str, str | None]:
    plan: dict[str, str | None] = {}
    for change in changes:
        if change.operation not in (Operation.SET, Operation.DELETE):
            raise KafkaError(ErrorCode.INVALID_REQUEST, "a log level can be set or deleted only")
        if change.operation == Operation.DELETE:
            if change.name == levels.ROOT:
                raise KafkaError(
                    ErrorCode.INVALID_REQUEST, "the level of the root logger cannot be deleted"
                )
            _check_level(change.name, "INFO")
        else:
            _check_level(change.name, change.value or "")
        plan[change.name] = None if change.operation == Operation.DELETE else change.value
    return plan


def _check_level(name: str, level: str) -> None:
    try:
        levels.check_level(name, level)
    except ValueError as failure:
        raise KafkaError(ErrorCode.INVALID_CONFIG, str(failure)) from None


def _unknown_type(resource_type: int) -> KafkaError:
    return KafkaError(
        ErrorCode.INVALID_REQUEST, f"resources of type {resource_type} have no settings here"
    )
