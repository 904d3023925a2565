"""What rules can check, by the names that rule files have for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.monitor.alerts.conditions.groups import GroupLag, GroupLagSeconds, GroupStatus
from headwater.monitor.alerts.conditions.servers import CertificateExpires, DiskFull
from headwater.monitor.alerts.conditions.topics import (
    PartitionOffline,
    PartitionUnderReplicated,
    TopicIdle,
)

if TYPE_CHECKING:
    from headwater.monitor.alerts.conditions.condition import Condition

__all__ = [
    "CONDITIONS",
    "CertificateExpires",
    "DiskFull",
    "GroupLag",
    "GroupLagSeconds",
    "GroupStatus",
    "PartitionOffline",
    "PartitionUnderReplicated",
    "TopicIdle",
]

CONDITIONS: dict[str, type[Condition]] = {
    "group-status": GroupStatus,
    "group-lag-seconds": GroupLagSeconds,
    "group-lag": GroupLag,
    "partition-under-replicated": PartitionUnderReplicated,
    "partition-offline": PartitionOffline,
    "topic-idle": TopicIdle,
    "disk-full": DiskFull,
    "certificate-expires": CertificateExpires,
}
