"""What the server says of itself: who and how it is, and which properties it knows."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from headwater import __version__
from headwater.http.answers import answer
from headwater.http.errors import HttpError
from headwater.sql.server.entities.errors import BAD_REQUEST
from headwater.sql.server.http.requests import HeartbeatRequest, LagRequest, body_of
from headwater.sql.server.properties import is_known

if TYPE_CHECKING:
    from headwater.http.answers import Reply
    from headwater.http.request import Request
    from headwater.sql.server.server import SqlServer


async def info(server: SqlServer, _: Request) -> Reply:
    """Tell the version, and which cluster the server is for."""
    return answer(
        {
            "KsqlServerInfo": {
                "version": __version__,
                "kafkaClusterId": server.cluster_id,
                "ksqlServiceId": server.config.service_id,
                "serverStatus": "RUNNING",
            }
        }
    )


async def health(server: SqlServer, _: Request) -> Reply:
    """Tell whether the server is well."""
    parts = {name: {"isHealthy": True} for name in ("metastore", "kafka", "commandRunner")}
    return answer({"isHealthy": True, "details": parts, "serverState": "READY"})


async def cluster_status(server: SqlServer, _: Request) -> Reply:
    """Tell which servers there are: this one, and the one that leads."""
    now = int(time.time() * 1000)
    urls = [server.url]
    leader = server.writer.leader_url
    if leader is not None:
        urls.append(leader)
    state: dict[str, Any] = {
        "hostAlive": True,
        "lastStatusUpdateMs": now,
        "activeStandbyPerQuery": {},
        "hostStoreLags": {"stateStoreLags": {}, "updateTimeMs": now},
    }
    return answer({"clusterStatus": {url.partition("://")[2]: state for url in urls}})


async def heartbeat(_: SqlServer, request: Request) -> Reply:
    """Take note that another server is there; who leads is found by the command topic."""
    body_of(request, HeartbeatRequest)
    return answer({"isOk": True})


async def lag(_: SqlServer, request: Request) -> Reply:
    """Take note of how far another server's stores are; each server follows tables by itself."""
    body_of(request, LagRequest)
    return answer({"isOk": True})


async def is_valid_property(_: SqlServer, request: Request) -> Reply:
    """Tell whether a session can set a property."""
    name = request.parameters["name"]
    if is_known(name):
        return answer(True)
    message = f"One or more properties overrides set locally are prohibited or unknown: {name}"
    raise HttpError(400, BAD_REQUEST, message)


async def metadata(server: SqlServer, _: Request) -> Reply:
    """Tell the version and the id of the cluster."""
    return answer({"version": __version__, "clusterId": _cluster_id(server)})


async def metadata_id(server: SqlServer, _: Request) -> Reply:
    """Tell the id of the cluster."""
    return answer(_cluster_id(server))


def _cluster_id(server: SqlServer) -> dict[str, Any]:
    clusters = {
        "kafka-cluster": server.cluster_id,
        "ksql-cluster": server.config.service_id,
    }
    return {"scope": {"path": [], "clusters": clusters}, "id": ""}
