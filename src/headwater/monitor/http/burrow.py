"""Burrow's interface: clusters, topics, groups, and how they are.

To what Burrow tells of a group and a partition, `reason` is added, `verdict` (that of the group's
worst partition, where Burrow says ERR of three kinds of it) and `current_lag_seconds`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.http.answers import Answer, answer, encode
from headwater.http.errors import HttpError
from headwater.monitor.verdicts import Status

if TYPE_CHECKING:
    from headwater.http.request import Request
    from headwater.monitor.cluster_monitor import ClusterMonitor, Observation
    from headwater.monitor.service import MonitorService
    from headwater.monitor.verdicts import GroupVerdict, PartitionVerdict, Sample

_FINE = (Status.OK, Status.WARN)


async def list_clusters(service: MonitorService, request: Request) -> Answer:
    """Answer GET /v3/kafka."""
    return _answer(request, "cluster list returned", clusters=[service.cluster.name])


async def list_consumers(service: MonitorService, request: Request) -> Answer:
    """Answer GET /v3/kafka/{cluster}/consumer."""
    seen = _seen(service.cluster, request)
    return _answer(request, "consumer list returned", consumers=sorted(seen.lags))


async def get_status(service: MonitorService, request: Request) -> Answer:
    """Answer GET /v3/kafka/{cluster}/consumer/{group}/status: what is not well."""
    return _status(service, request, is_whole=False)


async def get_lag(service: MonitorService, request: Request) -> Answer:
    """Answer GET /v3/kafka/{cluster}/consumer/{group}/lag: all partitions."""
    return _status(service, request, is_whole=True)


async def list_topics(service: MonitorService, request: Request) -> Answer:
    """Answer GET /v3/kafka/{cluster}/topic."""
    names = sorted(topic.name for topic in _seen(service.cluster, request).cluster.topics)
    return _answer(request, "topic list returned", topics=names)


async def get_topic(service: MonitorService, request: Request) -> Answer:
    """Answer GET /v3/kafka/{cluster}/topic/{topic}: the end of each partition."""
    for topic in _seen(service.cluster, request).cluster.topics:
        if topic.name == request.parameters["topic"]:
            offsets = [partition.high_watermark for partition in topic.partitions]
            return _answer(request, "topic offsets returned", offsets=offsets)
    raise HttpError(404, 404, "cluster or topic not found")


def error(failure: HttpError) -> Answer:
    """Return an error as Burrow writes it."""
    value = {"error": True, "message": failure.message}
    return Answer(encode(value), failure.status, headers=failure.headers)


def _seen(monitor: ClusterMonitor, request: Request) -> Observation:
    if request.parameters["cluster"] != monitor.name:
        raise HttpError(404, 404, "cluster not found")
    if monitor.latest is None:
        raise HttpError(503, 503, f"cluster {monitor.name} cannot be watched: {monitor.failure}")
    return monitor.latest


def _status(service: MonitorService, request: Request, *, is_whole: bool) -> Answer:
    seen = _seen(service.cluster, request)
    verdict = seen.verdicts.get(request.parameters["group"])
    if verdict is None:
        raise HttpError(404, 404, "cluster or consumer not found")
    described = _described(service.cluster.name, verdict, seen, is_whole=is_whole)
    return _answer(request, "consumer status returned", status=described)


def _described(
    cluster: str, verdict: GroupVerdict, seen: Observation, *, is_whole: bool
) -> dict[str, Any]:
    worst = verdict.max_lag
    return {
        "cluster": cluster,
        "group": verdict.group,
        "status": (verdict.status if verdict.status in _FINE else Status.ERR).name,
        "verdict": verdict.status.name,
        "reason": verdict.reason,
        "complete": min((each.complete for each in verdict.partitions), default=1.0),
        "partitions": [
            _partition(each, seen)
            for each in verdict.partitions
            if is_whole or each.status is not Status.OK
        ],
        "partition_count": len(verdict.partitions),
        "maxlag": None if worst is None else _partition(worst, seen),
        "totallag": sum(each.lag.records for each in verdict.partitions),
    }


def _partition(verdict: PartitionVerdict, seen: Observation) -> dict[str, Any]:
    lag = verdict.lag
    return {
        "topic": lag.topic,
        "partition": lag.partition,
        "owner": "" if lag.owner is None else lag.owner.host,
        "client_id": "" if lag.owner is None else lag.owner.client_id,
        "status": verdict.status.name,
        "reason": verdict.reason,
        "start": _sample(verdict.history.first),
        "end": _sample(verdict.history.last),
        "current_lag": lag.records,
        "current_lag_seconds": lag.seconds(seen.times, seen.time_s),
        "complete": verdict.complete,
    }


def _sample(sample: Sample) -> dict[str, int]:
    return {"offset": sample.offset, "timestamp": sample.time_ms, "lag": sample.lag}


def _answer(request: Request, message: str, **content: Any) -> Answer:
    host = request.headers.get(b"host", b"").decode("latin-1")
    asked = {"url": request.target, "host": host}
    return answer({"error": False, "message": message, **content, "request": asked})
