"""The registry's settings, under Confluent's names where there are such."""

from __future__ import annotations

from headwater.config import (
    ConfigDef,
    ConfigType,
    Definitions,
    Importance,
    at_least,
    list_of,
    one_of_any_case,
)
from headwater.http.listener_settings import listener_definitions
from headwater.http.rights import rights_definition
from headwater.registry.settings_scope import LEVELS

DEFAULT_PORT = 8081
CLIENT_PREFIX = "kafkastore."

REGISTRY_SETTINGS = Definitions(
    "registry",
    ConfigDef(
        "kafkastore.bootstrap.servers",
        ConfigType.LIST,
        ("localhost:9092",),
        "The cluster that schemas are kept in; what else starts with kafkastore. is a setting of"
        " the Kafka client, kafkastore.security.protocol for example.",
        list_of(may_be_empty=False),
        importance=Importance.HIGH,
    ),
    *listener_definitions(DEFAULT_PORT),
    rights_definition(),
    ConfigDef(
        "advertised.url",
        ConfigType.STRING,
        None,
        "Where other instances reach this one.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "kafkastore.topic",
        ConfigType.STRING,
        "_schemas",
        "The topic that schemas are kept in.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "kafkastore.topic.replication.factor",
        ConfigType.INT,
        3,
        "How many replicas that topic gets, or as many as there are brokers.",
        at_least(1),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "kafkastore.timeout.ms",
        ConfigType.INT,
        10_000,
        "How long Kafka may take for an answer.",
        at_least(1),
    ),
    ConfigDef(
        "kafkastore.init.timeout.ms",
        ConfigType.INT,
        60_000,
        "How long the registry may take at start to read its topic.",
        at_least(1),
    ),
    ConfigDef(
        "schema.registry.group.id",
        ConfigType.STRING,
        "schema-registry",
        "The group in which instances elect a leader.",
    ),
    ConfigDef(
        "schema.compatibility.level",
        ConfigType.STRING,
        "BACKWARD",
        "The compatibility level of subjects for which nobody has set one.",
        one_of_any_case(*LEVELS),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "avro.compatibility.level",
        ConfigType.STRING,
        "BACKWARD",
        "The old name of schema.compatibility.level.",
        one_of_any_case(*LEVELS),
        importance=Importance.LOW,
    ),
    ConfigDef("leader.eligibility", ConfigType.BOOLEAN, True, "Whether this instance may lead."),
    ConfigDef(
        "leader.session.timeout.ms",
        ConfigType.INT,
        10_000,
        "How long a leader may be silent before it is replaced.",
        at_least(1),
    ),
    ConfigDef(
        "leader.patience.ms",
        ConfigType.INT,
        20_000,
        "How long a write waits for a leader.",
        at_least(1),
    ),
    ConfigDef("mode.mutability", ConfigType.BOOLEAN, True, "Whether modes can be changed."),
    ConfigDef("read.only", ConfigType.BOOLEAN, False, "Whether it answers reads only."),
    ConfigDef(
        "max.request.bytes",
        ConfigType.INT,
        4 * 1024 * 1024,
        "How large a request may be; larger ones are refused with 413.",
        at_least(1),
    ),
    open_prefixes=(CLIENT_PREFIX,),
)
