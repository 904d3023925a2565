"""The worker's settings, under Kafka Connect's names."""

from __future__ import annotations

from headwater.config import (
    NOT_EMPTY,
    ConfigDef,
    ConfigType,
    Definitions,
    Importance,
    at_least,
    list_of,
    one_of,
)
from headwater.http.listener_settings import listener_definitions
from headwater.http.rights import rights_definition

DEFAULT_PORT = 8083
JSON_CONVERTER = "org.apache.kafka.connect.json.JsonConverter"

# Settings of converters and of Kafka clients.
_OTHERS = (
    "key.converter.",
    "value.converter.",
    "header.converter.",
    "producer.",
    "consumer.",
    "admin.",
    "config.providers",
    "security.",
    "sasl.",
    "status.storage.",
    "offset.storage.",
    "config.storage.",
)


def _converter(side: str) -> tuple[ConfigDef, ...]:
    return (
        ConfigDef(
            f"{side}.converter",
            ConfigType.CLASS,
            JSON_CONVERTER,
            f"What makes bytes of {side}s, and {side}s of bytes, where a connector says nothing.",
            NOT_EMPTY,
            importance=Importance.HIGH,
        ),
        ConfigDef(
            f"{side}.converter.schemas.enable",
            ConfigType.BOOLEAN,
            True,
            f"Whether JSON {side}s have their schema with them.",
        ),
        ConfigDef(
            f"{side}.converter.schema.registry.url",
            ConfigType.STRING,
            None,
            f"The registry for {side}s in Avro, JSON Schema and Protobuf.",
        ),
    )


def _topic(kind: str, holds: str, default: str) -> tuple[ConfigDef, ...]:
    return (
        ConfigDef(
            f"{kind}.storage.topic",
            ConfigType.STRING,
            default,
            f"The topic that has {holds}; it is made if it is not there.",
            NOT_EMPTY,
            importance=Importance.HIGH,
        ),
        ConfigDef(
            f"{kind}.storage.replication.factor",
            ConfigType.SHORT,
            3,
            "On how many brokers it is kept; fewer if there are fewer.",
            at_least(1),
            importance=Importance.LOW,
        ),
    )


def _without_effect(name: str, why: str) -> ConfigDef:
    return ConfigDef(
        name, ConfigType.STRING, None, why, has_effect=False, importance=Importance.LOW
    )


CONNECT_SETTINGS = Definitions(
    "connect",
    *listener_definitions(DEFAULT_PORT),
    rights_definition(),
    ConfigDef(
        "bootstrap.servers",
        ConfigType.LIST,
        None,
        "The cluster; without it, the one that the command or the platform names.",
        list_of(may_be_empty=False),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "group.id",
        ConfigType.STRING,
        "connect-cluster",
        "Workers with the same group.id share their connectors.",
        NOT_EMPTY,
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "engine",
        ConfigType.STRING,
        "spark",
        "What runs connectors: spark, or kafka for Apache Kafka's own worker and its jars, which"
        " takes all of its own settings beside these.",
        one_of("spark", "kafka"),
    ),
    *_topic("config", "the configurations of connectors", "connect-configs"),
    *_topic("offset", "the offsets of sources", "connect-offsets"),
    *_topic("status", "the states of connectors", "connect-status"),
    *_converter("key"),
    *_converter("value"),
    ConfigDef(
        "header.converter",
        ConfigType.CLASS,
        "org.apache.kafka.connect.storage.SimpleHeaderConverter",
        "What makes bytes of the values of headers, and values of bytes, where a connector says"
        " nothing.",
        NOT_EMPTY,
        importance=Importance.LOW,
    ),
    ConfigDef(
        "rest.advertised.host.name",
        ConfigType.STRING,
        None,
        "The name by which other workers reach this one; without it, the listener's.",
    ),
    ConfigDef(
        "rest.advertised.port",
        ConfigType.INT,
        None,
        "The port by which other workers reach this one; without it, the listener's.",
    ),
    ConfigDef(
        "session.timeout.ms",
        ConfigType.INT,
        10_000,
        "A worker that was not heard of for so long is replaced.",
        at_least(6000),
    ),
    ConfigDef(
        "headwater.stalled.after.ms",
        ConfigType.LONG,
        300_000,
        "A connector that has been at one batch for longer than this is shown as stalled.",
        at_least(1),
    ),
    _without_effect("plugin.path", "On Spark there are no jars to look in; see engine."),
    _without_effect("plugin.discovery", "Connectors are found by name."),
    _without_effect("offset.flush.interval.ms", "Offsets are written with the rows."),
    _without_effect("offset.flush.timeout.ms", "Offsets are written with the rows."),
    _without_effect("exactly.once.source.support", "Sources are always exactly once."),
    _without_effect("heartbeat.interval.ms", "It follows from session.timeout.ms."),
    _without_effect("rebalance.timeout.ms", "Nothing is rebalanced: the leader runs connectors."),
    _without_effect("offset.storage.file.filename", "Offsets are in a topic, also standalone."),
    open_prefixes=_OTHERS,
)
