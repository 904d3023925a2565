"""What a single node does with replication factors and replica assignments."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.broker.config import BrokerConfig

logger = logging.getLogger("headwater.broker")


class ReplicationPolicy:
    """Takes more than one replica as one, and says so once; or refuses, as Kafka would."""

    def __init__(self, config: BrokerConfig) -> None:
        self._config = config
        self._warned = False

    def check_factor(self, topic: str, factor: int) -> None:
        """Raise KafkaError unless a topic may be asked for with this replication factor."""
        if factor == -1:
            factor = self._config.integer("default.replication.factor")
        if factor < 1:
            raise KafkaError(
                ErrorCode.INVALID_REPLICATION_FACTOR,
                f"the replication factor of '{topic}' is {factor}; it must be larger than 0, or -1"
                " for the default",
            )
        if factor > 1:
            self._clamp(topic, factor, ErrorCode.INVALID_REPLICATION_FACTOR)

    def check_replicas(self, topic: str, brokers: Sequence[int]) -> None:
        """Raise KafkaError unless a partition may be assigned to these brokers."""
        node_id = self._config.node_id
        if not brokers:
            problem = "has an empty list of replicas"
        elif len(set(brokers)) != len(brokers):
            problem = "has the same broker more than once"
        elif node_id not in brokers:
            problem = f"names broker {brokers[0]}, and there is only broker {node_id}"
        else:
            if len(brokers) > 1:
                self._clamp(topic, len(brokers), ErrorCode.INVALID_REPLICA_ASSIGNMENT)
            return
        raise KafkaError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"the assignment of '{topic}' {problem}"
        )

    def _clamp(self, topic: str, factor: int, refusal: ErrorCode) -> None:
        if not self._config.clamps_replication:
            raise KafkaError(
                refusal, f"'{topic}' cannot have {factor} replicas: only 1 broker is registered"
            )
        if not self._warned:
            self._warned = True
            logger.warning(
                "topic %s was asked for with %d replicas and gets one, as will all others: this is"
                " a single node (headwater.replication.factor.clamp=false refuses instead)",
                topic, factor,
            )  # fmt: skip
