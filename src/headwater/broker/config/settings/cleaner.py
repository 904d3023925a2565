"""The settings of the log cleaner, which compacts."""

from __future__ import annotations

from headwater.config import (
    DOUBLE_MAX,
    LONG_MAX,
    ConfigDef,
    ConfigType,
    UpdateMode,
    at_least,
    between,
)

SETTINGS = (
    ConfigDef("log.cleaner.enable", ConfigType.BOOLEAN, True, "Whether logs are compacted at all."),
    ConfigDef(
        "log.cleaner.io.max.bytes.per.second",
        ConfigType.DOUBLE,
        DOUBLE_MAX,
        "How many bytes per second compaction may read and write.",
        update=UpdateMode.CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.cleaner.dedupe.buffer.size",
        ConfigType.LONG,
        134_217_728,
        "How much memory compaction may use to remember keys.",
        update=UpdateMode.CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.cleaner.io.buffer.load.factor",
        ConfigType.DOUBLE,
        0.9,
        "How full the memory for remembering keys may get before a pass ends early.",
        update=UpdateMode.CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.cleaner.backoff.ms",
        ConfigType.LONG,
        15_000,
        "How long the cleaner waits when there was nothing to compact.",
        at_least(0),
        UpdateMode.CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.cleaner.min.cleanable.ratio",
        ConfigType.DOUBLE,
        0.5,
        "The share of a log that must be uncompacted before it is worth a pass.",
        between(0, 1),
        UpdateMode.CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.cleaner.delete.retention.ms",
        ConfigType.LONG,
        86_400_000,
        "How long compaction keeps a tombstone.",
        at_least(0),
        UpdateMode.CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.cleaner.min.compaction.lag.ms",
        ConfigType.LONG,
        0,
        "The shortest time that a record stays uncompacted.",
        at_least(0),
        UpdateMode.CLUSTER_WIDE,
    ),
    ConfigDef(
        "log.cleaner.max.compaction.lag.ms",
        ConfigType.LONG,
        LONG_MAX,
        "The longest time that a record may stay uncompacted, whatever the dirty ratio.",
        at_least(1),
        UpdateMode.CLUSTER_WIDE,
    ),
)
