"""From a frame to its handler: header, version check, and what to do when a handler fails."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING

from headwater.broker.request import HangUp, Request
from headwater.protocol.api_keys import SERVED, ApiKey
from headwater.protocol.frames import RequestHeader, parse_request_header, response_header
from headwater.protocol.primitives import ProtocolError

if TYPE_CHECKING:
    from headwater.broker.broker import Broker
    from headwater.broker.connection import Connection, Reply
    from headwater.broker.request import Handler, Response

logger = logging.getLogger("headwater.broker")


class Dispatcher:
    """Hands each frame to the handler of its API and sends back what that returns."""

    def __init__(self, broker: Broker, handlers: dict[ApiKey, Handler]) -> None:
        self._broker = broker
        self._handlers = handlers

    def __call__(self, connection: Connection, view: memoryview, reply: Reply) -> None:
        """Serve one frame; anything that is not Kafka's protocol closes the connection."""
        try:
            header = parse_request_header(view)
            handler = self._handler(header)
            request = Request(header, view, connection.peer_host, connection.listener)
            answer = handler(self._broker, request)
        except Exception as error:
            _give_up(connection, error)
            return
        if answer is None:
            reply.skip()
        elif isinstance(answer, Awaitable):
            work = asyncio.ensure_future(answer)
            work.add_done_callback(partial(_answered, connection, reply, header))
            reply.attach(work)
        else:
            reply.send(_response_header(header), answer)

    def _handler(self, header: RequestHeader) -> Handler:
        api_key = header.api_key
        handler = self._handlers.get(api_key)
        versions = SERVED.get(api_key)
        if handler is None or versions is None:
            raise ProtocolError(f"it sent {api_key.name}, which is not served")
        if api_key is not ApiKey.API_VERSIONS and header.api_version not in versions:
            raise ProtocolError(
                f"it sent {api_key.name} v{header.api_version}, "
                f"but v{versions.min} to v{versions.max} are served"
            )
        return handler


def _answered(
    connection: Connection,
    reply: Reply,
    header: RequestHeader,
    work: asyncio.Future[Response | None],
) -> None:
    if work.cancelled():
        return
    error = work.exception()
    if error is not None:
        _give_up(connection, error)
        return
    body = work.result()
    if body is None:
        reply.skip()
    else:
        reply.send(_response_header(header), body)


def _give_up(connection: Connection, error: BaseException) -> None:
    if isinstance(error, HangUp):
        connection.close(str(error))
        return
    if isinstance(error, ProtocolError):
        connection.close(f"{error}; it may not be speaking Kafka's protocol")
        return
    logger.error("failed on a request from %s", connection.peer, exc_info=error)
    connection.close("the broker failed on its request")


def _response_header(header: RequestHeader) -> bytes:
    return response_header(header.api_key, header.api_version, header.correlation_id)
