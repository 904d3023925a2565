"""Rules: what is checked, for how long it has to hold, and how bad it is then."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.monitor.alerts.conditions import (
    CertificateExpires,
    DiskFull,
    GroupLagSeconds,
    GroupStatus,
    PartitionOffline,
    PartitionUnderReplicated,
)

if TYPE_CHECKING:
    from headwater.monitor.alerts.conditions.condition import Condition

CLUSTER_DOWN = "KafkaClusterDown"
"""Of a cluster that cannot be asked; it is checked whatever the rules are."""

CLUSTER_DOWN_EXPRESSION = "headwater_monitor_cluster_up == 0"

SEVERITIES = ("critical", "warning", "info")


class Rule(NamedTuple):
    """Something worth telling."""

    name: str
    condition: Condition
    for_s: float
    severity: str


DEFAULT_RULES = (
    Rule("KafkaPartitionOffline", PartitionOffline(), 60, "critical"),
    Rule("KafkaPartitionUnderReplicated", PartitionUnderReplicated(), 300, "warning"),
    Rule("KafkaGroupStalled", GroupStatus(("STALL",)), 0, "critical"),
    Rule("KafkaGroupStopped", GroupStatus(("STOP",)), 300, "warning"),
    Rule("KafkaGroupTooSlow", GroupStatus(("WARN",)), 300, "warning"),
    Rule("KafkaGroupRewound", GroupStatus(("REWIND",)), 0, "info"),
    Rule("KafkaGroupFarBehind", GroupLagSeconds(above=3600), 300, "warning"),
    Rule("KafkaDiskFull", DiskFull(), 300, "critical"),
    Rule("CertificateExpires", CertificateExpires(), 0, "warning"),
)
"""What is worth telling of any cluster, where no rule file says otherwise."""
