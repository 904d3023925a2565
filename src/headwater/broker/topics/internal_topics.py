"""How Kafka's internal topics are made: their partitions and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.broker.topics import topic_names

if TYPE_CHECKING:
    from headwater.broker.config import BrokerConfig


def blueprint(name: str, config: BrokerConfig) -> tuple[int, dict[str, str]]:
    """Return the number of partitions and the settings of a topic that is made on demand."""
    match name:
        case topic_names.CONSUMER_OFFSETS:
            return config.integer("offsets.topic.num.partitions"), {
                "cleanup.policy": "compact",
                "compression.type": "producer",
                "segment.bytes": str(config.integer("offsets.topic.segment.bytes")),
            }
        case topic_names.TRANSACTION_STATE:
            return config.integer("transaction.state.log.num.partitions"), {
                "cleanup.policy": "compact",
                "compression.type": "uncompressed",
                "min.insync.replicas": str(config.integer("transaction.state.log.min.isr")),
                "segment.bytes": str(config.integer("transaction.state.log.segment.bytes")),
                "unclean.leader.election.enable": "false",
            }
        case topic_names.SHARE_GROUP_STATE:
            return config.integer("share.coordinator.state.topic.num.partitions"), {
                "cleanup.policy": "delete",
                "compression.type": "uncompressed",
                "min.insync.replicas": str(config.integer("share.coordinator.state.topic.min.isr")),
                "retention.ms": "-1",
                "segment.bytes": str(config.integer("share.coordinator.state.topic.segment.bytes")),
            }
    return config.integer("num.partitions"), {}
