"""Where Prometheus fetches the broker's metrics: HTTP on the broker's own event loop.

Only what is asked for costs anything: a scrape copies the broker's state, and a thread turns that
into text. `prometheus_client` is imported by the first scrape.
"""

from __future__ import annotations

import asyncio
import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.metrics.snapshot import Snapshot, Traffic, take_snapshot, traffic
from headwater.metrics.cluster_state import (
    BrokerState,
    ClusterState,
    GroupState,
    PartitionState,
    TopicState,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.core import Metric

    from headwater.broker.broker import Broker
    from headwater.broker.topics.topics import Topic

logger = logging.getLogger("headwater.broker")

PATH = "/metrics"
_PATIENCE_S = 10.0
_PLAIN = "text/plain; charset=utf-8"
_HEAD_END = b"\r\n\r\n"


class MetricsEndpoint:
    """Serves `GET /metrics`."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._deleted = Traffic(0, 0, 0)
        self._server: asyncio.Server | None = None
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        broker.topics.on_delete(self._remember)

    async def start(self, host: str, port: int) -> tuple[str, int]:
        """Listen, and return where."""
        self._server = await asyncio.start_server(self._accept, host or "0.0.0.0", port)
        address: tuple[str, int] = self._server.sockets[0].getsockname()[:2]
        return address

    async def stop(self) -> None:
        """Close the port and every connection to it."""
        if self._server is not None:
            self._server.close()
        for writer in self._open.values():
            writer.transport.abort()
        await asyncio.gather(*self._open, return_exceptions=True)

    def _remember(self, topic: Topic) -> None:
        # A counter must not go down because a topic goes.
        self._deleted = self._deleted.plus(traffic(topic.partitions))

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open[task] = writer
        try:
            async with asyncio.timeout(_PATIENCE_S):
                head = await reader.readuntil(_HEAD_END)
                response = await self._respond(_parse(head))
                writer.write(response)
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError) as error:
            # TimeoutError is an OSError, too. A scraper that fails tries again by itself.
            logger.debug("a scrape ended early: %r", error)
        finally:
            del self._open[task]
            writer.close()

    async def _respond(self, request: _Request) -> bytes:
        if request.method not in ("GET", "HEAD"):
            return _response(HTTPStatus.METHOD_NOT_ALLOWED, _PLAIN, b"only GET is served\n")
        if request.path != PATH:
            return _response(HTTPStatus.NOT_FOUND, _PLAIN, f"see {PATH}\n".encode())
        snapshot = take_snapshot(self._broker, self._deleted)
        content_type, body = await asyncio.to_thread(_render, snapshot, request.accept)
        response = _response(HTTPStatus.OK, content_type, body)
        return response if request.method == "GET" else response[: -len(body)]


class _Request(NamedTuple):
    method: str
    path: str
    accept: str


def _parse(head: bytes) -> _Request:
    line, *headers = head.decode("latin-1").split("\r\n")
    method, _, rest = line.partition(" ")
    accept = ""
    for header in headers:
        name, _, value = header.partition(":")
        if name.strip().lower() == "accept":
            accept = value.strip()
    return _Request(method, rest.partition(" ")[0].partition("?")[0], accept)


def _response(status: HTTPStatus, content_type: str, body: bytes) -> bytes:
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\n"
        f"Content-Type: {content_type}\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + body


def _render(snapshot: Snapshot, accept: str) -> tuple[str, bytes]:
    from prometheus_client.exposition import choose_encoder

    encode, content_type = choose_encoder(accept)
    return content_type, encode(_Families(snapshot))


class _Families:
    """What an encoder takes for a registry."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def collect(self) -> Iterator[Metric]:
        """Return everything there is to show, of the process as well."""
        from prometheus_client import ProcessCollector

        from headwater.broker.metrics.server_families import server_families
        from headwater.metrics.kafka_exporter import exporter_families

        for gauges in exporter_families(_cluster(self._snapshot)):
            yield gauges.family()
        yield from server_families(self._snapshot)
        yield from ProcessCollector(registry=None).collect()


def _cluster(snapshot: Snapshot) -> ClusterState:
    """Return the cluster of this one broker, whose partitions have this one replica."""
    alone = (snapshot.node_id,)
    return ClusterState(
        [BrokerState(snapshot.node_id, f"{snapshot.address[0]}:{snapshot.address[1]}")],
        [
            TopicState(
                topic.name,
                [
                    PartitionState(
                        partition.index,
                        snapshot.node_id,
                        alone,
                        alone,
                        partition.log_start_offset,
                        partition.high_watermark,
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in snapshot.topics
        ],
        [
            GroupState(group.group_id, group.state, group.members, group.offsets, {})
            for group in snapshot.groups
        ],
    )
