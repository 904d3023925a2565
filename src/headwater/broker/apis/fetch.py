"""Fetch: records from many partitions, at once or as soon as there are enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.broker.fetch.pull import FetchPull
from headwater.protocol import fetch as codec
from headwater.protocol.errors import KafkaError

if TYPE_CHECKING:
    import asyncio

    from headwater.broker.broker import Broker
    from headwater.broker.requests.request import Request, Response


def fetch(broker: Broker, request: Request) -> Response | asyncio.Future[Response]:
    """Answer at once if there is enough to read, otherwise within the client's `max_wait_ms`."""
    version = request.header.api_version
    wanted = codec.decode_request(version, request.view, request.header.body)
    try:
        session = broker.fetch_sessions.resolve(wanted)
    except KafkaError as error:
        return codec.encode_response(version, 0, error.code, 0, [])
    pull = FetchPull(broker, request, wanted, session)
    if pull.read() or wanted.max_wait_ms <= 0:
        return pull.response()
    request.waiting_bytes = pull.waiting_bytes
    return pull.wait()
