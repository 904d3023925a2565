"""The platform at a glance: how much there is, how fast it moves, what is wrong and what to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from headwater.clients.errors import ClientError
from headwater.console.model.topics import is_under_replicated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.console.model.cluster import Cluster, Look
    from headwater.console.model.connect.connect import Connect
    from headwater.console.model.groups.groups import GroupRow, Groups
    from headwater.console.model.monitor import Monitor
    from headwater.console.model.platform import Platform, ServiceStatus

_MOST_PROBLEMS = 20
_LITTLE_ROOM = 0.10


class Problem(NamedTuple):
    """Something that is wrong, and what to do."""

    severity: str
    """error or warning."""
    what: str
    do: str
    href: str = ""


@dataclass(frozen=True)
class Overview:
    """What the first page shows."""

    brokers: int = 0
    topics: int = 0
    partitions: int = 0
    groups: int = 0
    records_per_s: float | None = None
    total_lag: int = 0
    bytes_used: int | None = None
    bytes_free: int | None = None
    busiest: Sequence[tuple[str, float]] = ()
    most_behind: Sequence[GroupRow] = ()
    services: Sequence[ServiceStatus] = ()
    problems: Sequence[Problem] = field(default_factory=list)


def overview(
    cluster: Cluster,
    groups: Groups,
    monitor: Monitor | None,
    platform: Platform | None,
    connect: Connect | None = None,
) -> Overview:
    """Ask all that there is; what does not answer is a problem, and hides nothing else."""
    problems: list[Problem] = []
    services: Sequence[ServiceStatus] = ()
    if platform is not None:
        try:
            services = platform.services()
        except ClientError as failure:
            problems.append(Problem("warning", str(failure), "Is `headwater up` still running?"))
    problems += [
        Problem("error", f"{each.name} is {each.state}: {each.reason}", "Look at its log.", "")
        for each in services
        if not each.is_well
    ]
    if monitor is not None:
        problems += _alerts(monitor)
    if connect is not None:
        problems += of_connectors(connect)
    try:
        look = cluster.look()
    except ClientError as failure:
        text = str(failure)
        do = "Start a broker: headwater up, or headwater broker."
        problems.insert(0, Problem("error", f"The cluster does not answer: {text}", do))
        return Overview(services=services, problems=problems)
    problems += _of_partitions(look)
    directories = cluster.directories()
    problems += [
        Problem(
            "error",
            f"Broker {each.broker} has {each.usable_bytes / each.total_bytes:.0%} of its disk left "
            f"({each.path}).",
            "Make room, or lower the retention of the largest topics.",
            "/topics?sort=-size",
        )
        for each in directories
        if each.total_bytes > 0 and each.usable_bytes / each.total_bytes < _LITTLE_ROOM
    ]
    rows = groups.all()
    return Overview(
        brokers=len(look.state.brokers),
        topics=len(look.state.topics),
        partitions=sum(len(topic.partitions) for topic in look.state.topics),
        groups=len(rows),
        records_per_s=sum(look.rates.values()) if look.rates else None,
        total_lag=sum(row.lag or 0 for row in rows),
        bytes_used=sum(sum(each.partitions.values()) for each in directories)
        if directories
        else None,
        bytes_free=min((each.usable_bytes for each in directories), default=None),
        busiest=_busiest(look),
        most_behind=sorted(
            (row for row in rows if row.lag), key=lambda row: row.lag or 0, reverse=True
        )[:5],
        services=services,
        problems=problems[:_MOST_PROBLEMS],
    )


def _busiest(look: Look) -> list[tuple[str, float]]:
    rates = sorted(look.rates.items(), key=lambda each: each[1], reverse=True)
    return [(name, rate) for name, rate in rates[:5] if rate > 0]


def _of_partitions(look: Look) -> list[Problem]:
    leaderless = lacking = 0
    for topic in look.state.topics:
        leaderless += sum(each.leader < 0 for each in topic.partitions)
        lacking += sum(is_under_replicated(each) for each in topic.partitions)
    problems = []
    if leaderless:
        problems.append(
            Problem(
                "error",
                f"{leaderless} partitions have no leader: nobody can read or write them.",
                "Start the brokers that have their replicas.",
                "/brokers",
            )
        )
    if lacking:
        problems.append(
            Problem(
                "warning",
                f"{lacking} partitions are under-replicated: some replicas are not in sync.",
                "Look whether all brokers run, and whether their disks keep up.",
                "/brokers",
            )
        )
    return problems


def of_connectors(connect: Connect) -> list[Problem]:
    """Return what is wrong with connectors."""
    try:
        failing = connect.failing()
    except ClientError as failure:
        return [Problem("warning", str(failure), "Start it: headwater connect worker.")]
    return [
        Problem(
            "error",
            f"Connector {each.name} is {each.health.lower()}: {each.error}",
            "See its errors in full, and restart it once their cause is gone.",
            f"/connect/connectors/{quote(each.name, safe='')}",
        )
        for each in failing
    ]


def _alerts(monitor: Monitor) -> list[Problem]:
    try:
        alerts = monitor.alerts()
    except ClientError as failure:
        return [Problem("warning", str(failure), "Start it: headwater monitor server.")]
    return [
        Problem(
            "error" if each.severity == "critical" else "warning",
            f"{each.name}: {each.summary}",
            "See docs/lag.md for what the rule means.",
        )
        for each in alerts
        if each.state == "firing"
    ]
