"""The settings of share groups and of their coordinator."""

from __future__ import annotations

from headwater.config import (
    ConfigDef,
    ConfigType,
    Importance,
    at_least,
)

SETTINGS = (
    ConfigDef(
        "share.coordinator.state.topic.num.partitions",
        ConfigType.INT,
        50,
        "How many partitions the topic of share-group state has.",
        at_least(1),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "share.coordinator.state.topic.min.isr",
        ConfigType.SHORT,
        2,
        "How many in-sync replicas the topic of share-group state needs.",
        at_least(1),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "share.coordinator.state.topic.segment.bytes",
        ConfigType.INT,
        104_857_600,
        "The segment size of the topic of share-group state.",
        at_least(1),
        importance=Importance.HIGH,
    ),
)
