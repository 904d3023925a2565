"""The settings of the server itself: who it is, what topics it makes, how it measures."""

from __future__ import annotations

from headwater.config import (
    ConfigDef,
    ConfigType,
    Importance,
    at_least,
)

SETTINGS = (
    ConfigDef(
        "node.id",
        ConfigType.INT,
        1,
        "The number by which clients know this broker.",
        at_least(0),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "broker.id",
        ConfigType.INT,
        1,
        "The old name of node.id, used where node.id is not set.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "broker.rack", ConfigType.STRING, None, "The rack or zone that the broker stands in."
    ),
    ConfigDef(
        "num.partitions",
        ConfigType.INT,
        1,
        "How many partitions a topic gets that is created without a number.",
        at_least(1),
    ),
    ConfigDef(
        "default.replication.factor",
        ConfigType.INT,
        1,
        "How many replicas a topic gets that is created without a number.",
    ),
    ConfigDef(
        "auto.create.topics.enable",
        ConfigType.BOOLEAN,
        True,
        "Whether a topic comes into being when a client first asks for it.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "delete.topic.enable",
        ConfigType.BOOLEAN,
        True,
        "Whether topics may be deleted.",
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "fetch.max.bytes",
        ConfigType.INT,
        57_671_680,
        "The most bytes that one fetch is answered with, whatever the client allows.",
        at_least(1_024),
    ),
    ConfigDef(
        "max.incremental.fetch.session.cache.slots",
        ConfigType.INT,
        1_000,
        "How many fetch sessions are kept, with 250,000 partitions together at most; whoever comes"
        " when there is no room is served without a session.",
        at_least(0),
    ),
    ConfigDef(
        "max.request.partition.size.limit",
        ConfigType.INT,
        2_000,
        "How many partitions one DescribeTopicPartitions response lists at most.",
        at_least(1),
    ),
    ConfigDef(
        "quota.window.num",
        ConfigType.INT,
        11,
        "How many windows a client quota is measured over.",
        at_least(1),
        importance=Importance.LOW,
    ),
    ConfigDef(
        "quota.window.size.seconds",
        ConfigType.INT,
        1,
        "How long one window of a client quota lasts.",
        at_least(1),
        importance=Importance.LOW,
    ),
    ConfigDef(
        "controller.quota.window.num",
        ConfigType.INT,
        11,
        "How many windows a quota on changes of metadata is measured over.",
        at_least(1),
        importance=Importance.LOW,
    ),
    ConfigDef(
        "controller.quota.window.size.seconds",
        ConfigType.INT,
        1,
        "How long one window of a quota on changes of metadata lasts.",
        at_least(1),
        importance=Importance.LOW,
    ),
)
