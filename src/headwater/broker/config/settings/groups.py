"""The settings of consumer, share and streams groups and of committed offsets."""

from __future__ import annotations

from headwater.config import (
    INT_MAX,
    ConfigDef,
    ConfigType,
    Importance,
    at_least,
    list_of,
    one_of_any_case,
)

SETTINGS = (
    ConfigDef(
        "offsets.topic.num.partitions",
        ConfigType.INT,
        50,
        "How many partitions the topic of committed offsets has.",
        at_least(1),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "offsets.topic.segment.bytes",
        ConfigType.INT,
        104_857_600,
        "The segment size of the topic of committed offsets.",
        at_least(1),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "offset.metadata.max.bytes",
        ConfigType.INT,
        4_096,
        "How long the note may be that a client stores beside a committed offset.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "offsets.retention.minutes",
        ConfigType.INT,
        10_080,
        "How long the offsets of a group without members are kept.",
        at_least(1),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "offsets.retention.check.interval.ms",
        ConfigType.LONG,
        600_000,
        "How often the coordinator looks for offsets to forget.",
        at_least(1),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "group.min.session.timeout.ms",
        ConfigType.INT,
        6_000,
        "The shortest session time-out that a member of a classic group may ask for.",
    ),
    ConfigDef(
        "group.max.session.timeout.ms",
        ConfigType.INT,
        1_800_000,
        "The longest session time-out that a member of a classic group may ask for.",
    ),
    ConfigDef(
        "group.initial.rebalance.delay.ms",
        ConfigType.INT,
        0,
        "How long a new classic group waits for more members before its first rebalance.",
    ),
    ConfigDef(
        "group.max.size",
        ConfigType.INT,
        INT_MAX,
        "How many members a classic group may have.",
        at_least(1),
    ),
    ConfigDef(
        "group.consumer.session.timeout.ms",
        ConfigType.INT,
        45_000,
        "How long a member of a consumer group may be silent before it is taken for dead.",
        at_least(1),
    ),
    ConfigDef(
        "group.consumer.heartbeat.interval.ms",
        ConfigType.INT,
        5_000,
        "How often a member of a consumer group sends a heartbeat.",
        at_least(1),
    ),
    ConfigDef(
        "group.consumer.max.size",
        ConfigType.INT,
        INT_MAX,
        "How many members a consumer group may have.",
        at_least(1),
    ),
    ConfigDef(
        "group.consumer.assignors",
        ConfigType.LIST,
        ("uniform", "range"),
        "The assignors of consumer groups; the first is the default.",
        list_of(may_be_empty=False),
    ),
    ConfigDef(
        "group.consumer.migration.policy",
        ConfigType.STRING,
        "bidirectional",
        "Which ways groups may move between the classic and the consumer protocol.",
        one_of_any_case("DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL"),
    ),
)
