"""The properties that every connector has, under Kafka Connect's names."""

from __future__ import annotations

from headwater.config import ConfigDef, ConfigType, Importance, at_least, one_of

COMMON: tuple[ConfigDef, ...] = (
    ConfigDef(
        "name",
        ConfigType.STRING,
        None,
        "The connector's name, which no other has.",
        required=True,
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "connector.class",
        ConfigType.STRING,
        None,
        "What kind of connector it is: a class name, or its last part.",
        required=True,
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "tasks.max",
        ConfigType.INT,
        1,
        "How many Spark tasks may work for it at a time.",
        at_least(1),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "key.converter",
        ConfigType.CLASS,
        None,
        "What makes bytes of keys, or keys of bytes; without it, the worker's.",
        importance=Importance.LOW,
    ),
    ConfigDef(
        "value.converter",
        ConfigType.CLASS,
        None,
        "What makes bytes of values, or values of bytes; without it, the worker's.",
        importance=Importance.LOW,
    ),
    ConfigDef(
        "header.converter",
        ConfigType.CLASS,
        None,
        "What makes bytes of the values of headers, or values of bytes; without it, the worker's.",
        importance=Importance.LOW,
    ),
    ConfigDef(
        "transforms",
        ConfigType.LIST,
        (),
        "Names of the transforms that records go through, in this order.",
        importance=Importance.LOW,
    ),
    ConfigDef(
        "predicates",
        ConfigType.LIST,
        (),
        "Names of the predicates that transforms refer to.",
        importance=Importance.LOW,
    ),
    ConfigDef(
        "errors.tolerance",
        ConfigType.STRING,
        "none",
        "What a record does that cannot be converted or transformed: with none the connector fails,"
        " with all the record is left out.",
        one_of("none", "all"),
    ),
    ConfigDef(
        "errors.retry.timeout",
        ConfigType.LONG,
        0,
        "For how long, in milliseconds, a batch that failed is tried again before the connector"
        " fails; -1 is for ever.",
        at_least(-1),
    ),
    ConfigDef(
        "errors.retry.delay.max.ms",
        ConfigType.LONG,
        60_000,
        "How long at most to wait between two such attempts.",
        at_least(1),
    ),
    ConfigDef(
        "errors.log.enable",
        ConfigType.BOOLEAN,
        False,
        "Whether the worker's log tells of each record that is left out.",
    ),
    ConfigDef(
        "errors.log.include.messages",
        ConfigType.BOOLEAN,
        False,
        "Whether it tells the record's topic, partition and offset, too.",
    ),
)

SOURCE: tuple[ConfigDef, ...] = ()

SINK: tuple[ConfigDef, ...] = (
    ConfigDef(
        "topics",
        ConfigType.LIST,
        (),
        "The topics to read.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "topics.regex",
        ConfigType.STRING,
        "",
        "A regular expression for the topics to read, instead of their names.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "errors.deadletterqueue.topic.name",
        ConfigType.STRING,
        "",
        "The topic for records that are left out.",
    ),
    ConfigDef(
        "errors.deadletterqueue.topic.replication.factor",
        ConfigType.SHORT,
        3,
        "On how many brokers it is kept where it has to be made; fewer if there are fewer.",
        at_least(1),
    ),
    ConfigDef(
        "errors.deadletterqueue.context.headers.enable",
        ConfigType.BOOLEAN,
        False,
        "Whether such a record has headers that say where it came from and what was wrong.",
    ),
)

OPEN_PREFIXES = (
    "transforms.",
    "predicates.",
    "key.converter.",
    "value.converter.",
    "header.converter.",
    "producer.override.",
    "consumer.override.",
    "admin.override.",
    "topic.creation.",
)
"""What begins like this belongs to a part of the connector, which checks it."""
