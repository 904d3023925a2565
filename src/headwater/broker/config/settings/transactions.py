"""The settings of transactions and of idempotent producers."""

from __future__ import annotations

from headwater.config import ConfigDef, ConfigType, Importance, UpdateMode, at_least

SETTINGS = (
    ConfigDef(
        "transaction.state.log.min.isr",
        ConfigType.INT,
        2,
        "How many in-sync replicas the topic of transaction state needs.",
        at_least(1),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "transaction.state.log.num.partitions",
        ConfigType.INT,
        50,
        "How many partitions the topic of transaction state has.",
        at_least(1),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "transaction.state.log.segment.bytes",
        ConfigType.INT,
        104_857_600,
        "The segment size of the topic of transaction state.",
        at_least(1),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "transaction.partition.verification.enable",
        ConfigType.BOOLEAN,
        True,
        "Whether an append checks that its partition has joined the transaction.",
        update=UpdateMode.CLUSTER_WIDE,
        importance=Importance.LOW,
    ),
    ConfigDef(
        "producer.id.expiration.ms",
        ConfigType.INT,
        86_400_000,
        "How long the broker remembers a producer that has stopped writing.",
        at_least(1),
        UpdateMode.CLUSTER_WIDE,
        importance=Importance.LOW,
    ),
    ConfigDef(
        "producer.id.expiration.check.interval.ms",
        ConfigType.INT,
        600_000,
        "How often the broker looks for producers to forget.",
        at_least(1),
        internal=True,
        importance=Importance.LOW,
    ),
    ConfigDef(
        "transactional.id.expiration.ms",
        ConfigType.INT,
        604_800_000,
        "How long the coordinator remembers a transactional id that is not used.",
        at_least(1),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "transaction.max.timeout.ms",
        ConfigType.INT,
        900_000,
        "The longest time-out that a transaction may ask for.",
        at_least(1),
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
        ConfigType.INT,
        10_000,
        "How often the coordinator looks for transactions that ran out of time.",
        at_least(1),
        importance=Importance.LOW,
    ),
    ConfigDef(
        "transaction.remove.expired.transaction.cleanup.interval.ms",
        ConfigType.INT,
        3_600_000,
        "How often the coordinator looks for transactional ids to forget.",
        at_least(1),
        importance=Importance.LOW,
    ),
)
