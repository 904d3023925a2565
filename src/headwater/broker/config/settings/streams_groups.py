"""The settings of streams groups."""

from __future__ import annotations

from headwater.log.config_def import (
    INT_MAX,
    ConfigDef,
    ConfigType,
    UpdateMode,
    at_least,
    without_effect,
)

SETTINGS = without_effect(
    ConfigDef(
        "group.streams.session.timeout.ms",
        ConfigType.INT,
        45_000,
        "How long a member of a streams group may be silent before it is taken for dead.",
        at_least(1),
    ),
    ConfigDef(
        "group.streams.min.session.timeout.ms",
        ConfigType.INT,
        45_000,
        "The shortest session time-out that a streams group may be given.",
        at_least(1),
    ),
    ConfigDef(
        "group.streams.max.session.timeout.ms",
        ConfigType.INT,
        60_000,
        "The longest session time-out that a streams group may be given.",
        at_least(1),
    ),
    ConfigDef(
        "group.streams.heartbeat.interval.ms",
        ConfigType.INT,
        5_000,
        "How often a member of a streams group sends a heartbeat.",
        at_least(1),
    ),
    ConfigDef(
        "group.streams.min.heartbeat.interval.ms",
        ConfigType.INT,
        5_000,
        "The shortest heartbeat interval that a streams group may be given.",
        at_least(1),
    ),
    ConfigDef(
        "group.streams.max.heartbeat.interval.ms",
        ConfigType.INT,
        15_000,
        "The longest heartbeat interval that a streams group may be given.",
        at_least(1),
    ),
    ConfigDef(
        "group.streams.max.size",
        ConfigType.INT,
        INT_MAX,
        "How many members a streams group may have.",
        at_least(1),
    ),
    ConfigDef(
        "group.streams.num.standby.replicas",
        ConfigType.INT,
        0,
        "How many standby copies each streams task has.",
        at_least(0),
    ),
    ConfigDef(
        "group.streams.max.standby.replicas",
        ConfigType.INT,
        2,
        "The largest number of standby copies that a streams group may be given.",
        at_least(0),
    ),
    ConfigDef(
        "group.streams.initial.rebalance.delay.ms",
        ConfigType.INT,
        3_000,
        "How long a new streams group waits for more members before its first assignment.",
        at_least(0),
    ),
    ConfigDef(
        "group.streams.assignment.interval.ms",
        ConfigType.INT,
        1_000,
        "The shortest time between two assignments of a streams group.",
        at_least(0),
        UpdateMode.CLUSTER_WIDE,
    ),
    ConfigDef(
        "group.streams.min.assignment.interval.ms",
        ConfigType.INT,
        0,
        "The shortest assignment interval that a streams group may be given.",
        at_least(0),
    ),
    ConfigDef(
        "group.streams.max.assignment.interval.ms",
        ConfigType.INT,
        15_000,
        "The longest assignment interval that a streams group may be given.",
        at_least(0),
    ),
)
