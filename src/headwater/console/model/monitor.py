"""The monitor, if there is one: verdicts on groups, lag in seconds, and what is wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from headwater.clients.errors import ClientError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.console.model.json_service import JsonService


class PartitionVerdict(NamedTuple):
    """How a group is in a partition."""

    status: str
    seconds: float | None


@dataclass(frozen=True)
class GroupVerdict:
    """How a group is, and why."""

    status: str
    reason: str
    partitions: Mapping[tuple[str, int], PartitionVerdict] = field(default_factory=dict)

    @property
    def seconds(self) -> float | None:
        """The largest lag in seconds."""
        known = [each.seconds for each in self.partitions.values() if each.seconds is not None]
        return max(known, default=None)


class Alert(NamedTuple):
    """Something that is wrong."""

    name: str
    state: str
    severity: str
    summary: str


class Monitor:
    """All methods block. A monitor that does not answer is as good as none, but for alerts."""

    def __init__(self, service: JsonService) -> None:
        self.url = service.url
        self._service = service
        self._cluster: str | None = None

    def verdict(self, group: str) -> GroupVerdict | None:
        """Return how a group is; None where the monitor does not know, or does not answer."""
        try:
            path = f"/v3/kafka/{quote(self._cluster_name(), safe='')}/consumer"
            answer = self._service.get(f"{path}/{quote(group, safe='')}/lag")
        except ClientError:
            return None
        if answer is None:
            return None
        status = answer["status"]
        return GroupVerdict(
            str(status.get("verdict") or status["status"]),
            str(status.get("reason") or ""),
            {
                (each["topic"], each["partition"]): PartitionVerdict(
                    str(each["status"]), each.get("current_lag_seconds")
                )
                for each in status["partitions"]
            },
        )

    def alerts(self) -> list[Alert]:
        """Return what is wrong now; raises ClientError."""
        answer: Any = self._service.get("/api/v1/alerts") or {"data": {"alerts": []}}
        return [
            Alert(
                each["labels"].get("alertname", ""),
                each["state"],
                each["labels"].get("severity", ""),
                each["annotations"].get("summary") or each["annotations"].get("description", ""),
            )
            for each in answer["data"]["alerts"]
        ]

    def _cluster_name(self) -> str:
        if self._cluster is None:
            answer = self._service.get("/v3/kafka") or {}
            names = answer.get("clusters") or ["default"]
            self._cluster = str(names[0])
        return self._cluster
