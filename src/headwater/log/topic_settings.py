"""The settings that a topic has, under Kafka's own names and with Kafka's own defaults."""

from __future__ import annotations

import re

from headwater.config import (
    LONG_MAX,
    ConfigDef,
    ConfigType,
    Definitions,
    UpdateMode,
    Validator,
    Value,
    at_least,
    between,
    either,
    list_of,
    one_of,
)

HOUR_MS = 60 * 60 * 1000
DAY_MS = 24 * HOUR_MS


def _setting(
    name: str,
    kind: ConfigType,
    default: Value,
    doc: str,
    validator: Validator | None = None,
    *,
    has_effect: bool = True,
    internal: bool = False,
) -> ConfigDef:
    return ConfigDef(
        name, kind, default, doc, validator, UpdateMode.CLUSTER_WIDE, has_effect, internal
    )


_BOOLEAN, _STRING, _INT, _LONG, _DOUBLE, _LIST = (
    ConfigType.BOOLEAN,
    ConfigType.STRING,
    ConfigType.INT,
    ConfigType.LONG,
    ConfigType.DOUBLE,
    ConfigType.LIST,
)

_THROTTLED_REPLICAS = Validator(
    "* or a list of partition:broker",
    lambda value: value == ("*",) or all(re.fullmatch(r"[0-9]+:[0-9]+", v) for v in value),
)

_DEFINITIONS = (
    _setting(
        "cleanup.policy",
        _LIST,
        ("delete",),
        "What happens to old segments: delete drops them by age and size, compact keeps the last"
        " value of each key, both together do both, and an empty list keeps everything.",
        list_of("compact", "delete", may_be_empty=True),
    ),
    _setting(
        "compression.gzip.level",
        _INT,
        -1,
        "How hard gzip works where compression.type is gzip; -1 leaves the choice to gzip.",
        either(between(1, 9), one_of(-1)),
    ),
    _setting(
        "compression.lz4.level",
        _INT,
        9,
        "How hard lz4 works where compression.type is lz4.",
        between(1, 17),
    ),
    _setting(
        "compression.type",
        _STRING,
        "producer",
        "The codec that batches are stored with; producer keeps the one they arrive with, and"
        " uncompressed stores them without any.",
        one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
    ),
    _setting(
        "compression.zstd.level",
        _INT,
        3,
        "How hard zstd works where compression.type is zstd.",
        between(-131072, 22),
    ),
    _setting(
        "delete.retention.ms",
        _LONG,
        DAY_MS,
        "How long compaction keeps a tombstone, so that readers who started before it still see"
        " that the key is gone.",
        at_least(0),
    ),
    _setting(
        "file.delete.delay.ms",
        _LONG,
        60_000,
        "How long the files of a removed segment stay on disk for reads already under way.",
        at_least(0),
    ),
    _setting(
        "flush.messages",
        _LONG,
        LONG_MAX,
        "Flush the log to disk once this many records have arrived since the last flush.",
        at_least(1),
    ),
    _setting(
        "flush.ms",
        _LONG,
        LONG_MAX,
        "Flush the log to disk once its oldest unflushed record has waited this long.",
        at_least(0),
    ),
    _setting(
        "follower.replication.throttled.replicas",
        _LIST,
        (),
        "The replicas whose followers copy at a limited rate.",
        _THROTTLED_REPLICAS,
        has_effect=False,
    ),
    _setting(
        "index.interval.bytes",
        _INT,
        4096,
        "How many bytes of batches one index entry stands for: fewer make look-ups faster and the"
        " index larger.",
        at_least(0),
    ),
    _setting(
        "internal.segment.bytes",
        _INT,
        None,
        "The size of a segment without the lower limit of segment.bytes, for tests.",
        at_least(1),
        internal=True,
    ),
    _setting(
        "leader.replication.throttled.replicas",
        _LIST,
        (),
        "The replicas whose leaders are copied from at a limited rate.",
        _THROTTLED_REPLICAS,
        has_effect=False,
    ),
    _setting(
        "local.retention.bytes",
        _LONG,
        -2,
        "How many bytes of a partition stay on this disk when older ones are in remote storage.",
        at_least(-2),
        has_effect=False,
    ),
    _setting(
        "local.retention.ms",
        _LONG,
        -2,
        "How long segments stay on this disk when older ones are in remote storage.",
        at_least(-2),
        has_effect=False,
    ),
    _setting(
        "max.compaction.lag.ms",
        _LONG,
        LONG_MAX,
        "The longest time that a record may stay uncompacted, whatever the dirty ratio.",
        at_least(1),
    ),
    _setting(
        "max.message.bytes",
        _INT,
        1024 * 1024 + 12,
        "The largest record batch that is taken, in bytes, after compression.",
        at_least(0),
    ),
    _setting(
        "message.timestamp.after.max.ms",
        _LONG,
        HOUR_MS,
        "How far a record's timestamp may lie ahead of the broker's clock.",
        at_least(0),
    ),
    _setting(
        "message.timestamp.before.max.ms",
        _LONG,
        LONG_MAX,
        "How far a record's timestamp may lie behind the broker's clock.",
        at_least(0),
    ),
    _setting(
        "message.timestamp.type",
        _STRING,
        "CreateTime",
        "Whether a record keeps the producer's timestamp (CreateTime) or is given the time at which"
        " it was appended (LogAppendTime).",
        one_of("CreateTime", "LogAppendTime"),
    ),
    _setting(
        "min.cleanable.dirty.ratio",
        _DOUBLE,
        0.5,
        "The share of a compacted log that must be uncompacted before it is worth a pass.",
        between(0, 1),
    ),
    _setting(
        "min.compaction.lag.ms",
        _LONG,
        0,
        "The shortest time that a record stays uncompacted.",
        at_least(0),
    ),
    _setting(
        "min.insync.replicas",
        _INT,
        1,
        "How many replicas must have a record before acks=all is answered.",
        at_least(1),
        has_effect=False,
    ),
    _setting(
        "preallocate",
        _BOOLEAN,
        False,
        "Whether a new segment's file gets its full size at once.",
    ),
    _setting(
        "remote.log.copy.disable",
        _BOOLEAN,
        False,
        "Whether segments are no longer copied to remote storage.",
        has_effect=False,
    ),
    _setting(
        "remote.log.delete.on.disable",
        _BOOLEAN,
        False,
        "Whether what is in remote storage is deleted when remote storage is turned off.",
        has_effect=False,
    ),
    _setting(
        "remote.storage.enable",
        _BOOLEAN,
        False,
        "Whether old segments move to remote storage.",
        has_effect=False,
    ),
    _setting(
        "retention.bytes",
        _LONG,
        -1,
        "How large a partition may grow before its oldest segments are dropped; -1 is no limit.",
    ),
    _setting(
        "retention.ms",
        _LONG,
        7 * DAY_MS,
        "How old a segment may get before it is dropped; -1 keeps it for ever.",
        at_least(-1),
    ),
    _setting(
        "segment.bytes",
        _INT,
        1 << 30,
        "How large a segment's file grows before a new one is started.",
        at_least(1 << 20),
    ),
    _setting(
        "segment.index.bytes",
        _INT,
        10 << 20,
        "How large the index of a segment may grow before a new segment is started.",
        at_least(4),
    ),
    _setting(
        "segment.jitter.ms",
        _LONG,
        0,
        "The most that is taken off segment.ms at random, so that partitions do not all roll at"
        " the same moment.",
        at_least(0),
    ),
    _setting(
        "segment.ms",
        _LONG,
        7 * DAY_MS,
        "How long a segment is appended to before a new one is started, full or not.",
        at_least(1),
    ),
    _setting(
        "unclean.leader.election.enable",
        _BOOLEAN,
        False,
        "Whether a replica that is behind may become leader when no other is left.",
        has_effect=False,
    ),
)

TOPIC_SETTINGS = Definitions("topic", *_DEFINITIONS)
