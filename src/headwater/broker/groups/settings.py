"""The broker settings that groups go by, under Kafka's names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.broker.groups.assignors import ASSIGNORS

if TYPE_CHECKING:
    from headwater.broker.config import BrokerConfig

_MS_PER_MINUTE = 60_000


@dataclass(frozen=True)
class GroupSettings:
    """Limits and times of groups; the defaults are those of the broker's settings."""

    min_session_timeout_ms: int = 6_000
    max_session_timeout_ms: int = 1_800_000
    initial_rebalance_delay_ms: int = 0
    max_size: int = 0x7FFFFFFF
    new_member_join_timeout_ms: int = 300_000
    """How long a JoinGroup of somebody who cannot heartbeat yet may wait; fixed, as in Kafka."""
    offset_metadata_max_bytes: int = 4096
    offsets_retention_ms: int = 10_080 * _MS_PER_MINUTE
    offsets_retention_check_interval_ms: int = 600_000
    consumer_session_timeout_ms: int = 45_000
    consumer_heartbeat_interval_ms: int = 5_000
    consumer_max_size: int = 0x7FFFFFFF
    consumer_assignors: tuple[str, ...] = ("uniform", "range")
    migration_policy: str = "bidirectional"

    @classmethod
    def from_config(cls, config: BrokerConfig) -> GroupSettings:
        """Take the settings out of the broker's."""
        retention_minutes = config.integer("offsets.retention.minutes")
        return cls(
            min_session_timeout_ms=config.integer("group.min.session.timeout.ms"),
            max_session_timeout_ms=config.integer("group.max.session.timeout.ms"),
            initial_rebalance_delay_ms=config.integer("group.initial.rebalance.delay.ms"),
            max_size=config.integer("group.max.size"),
            offset_metadata_max_bytes=config.integer("offset.metadata.max.bytes"),
            offsets_retention_ms=retention_minutes * _MS_PER_MINUTE,
            offsets_retention_check_interval_ms=config.integer(
                "offsets.retention.check.interval.ms"
            ),
            consumer_session_timeout_ms=config.integer("group.consumer.session.timeout.ms"),
            consumer_heartbeat_interval_ms=config.integer("group.consumer.heartbeat.interval.ms"),
            consumer_max_size=config.integer("group.consumer.max.size"),
            consumer_assignors=_assignors(config.words("group.consumer.assignors")),
            migration_policy=(config.text("group.consumer.migration.policy") or "").lower(),
        )

    @property
    def allows_upgrade(self) -> bool:
        """Whether a group of the classic protocol may change to the new one while it is alive."""
        return self.migration_policy in ("bidirectional", "upgrade")

    @property
    def allows_downgrade(self) -> bool:
        """Whether a group of the new protocol may change to the classic one while it is alive."""
        return self.migration_policy in ("bidirectional", "downgrade")

    @property
    def allows_mixing(self) -> bool:
        """Whether members of both protocols may be in one group."""
        return self.migration_policy != "disabled"


def _assignors(names: tuple[str, ...]) -> tuple[str, ...]:
    # Kafka takes classes of the user's own here, which a broker in Python cannot load.
    known = tuple(name for name in names if name in ASSIGNORS)
    return known or tuple(ASSIGNORS)
