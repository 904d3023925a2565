"""From a frame to its handler: header, version check, and what to do when a handler fails."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from functools import partial
from time import perf_counter_ns
from typing import TYPE_CHECKING

from headwater.broker.quotas.request_throttle import RequestThrottle
from headwater.broker.requests.pending_answer import PendingAnswer
from headwater.broker.requests.request import HangUp, Request
from headwater.log.rate_limited_logger import RateLimitedLogger
from headwater.protocol.api_keys import SERVED, ApiKey
from headwater.protocol.frames import RequestHeader, parse_request_header, response_header
from headwater.protocol.primitives import ProtocolError

if TYPE_CHECKING:
    from headwater.broker.broker import Broker
    from headwater.broker.network.connection import Connection
    from headwater.broker.requests.reply import Reply
    from headwater.broker.requests.request import Handler, Response

logger = logging.getLogger("headwater.broker")
_failures = RateLimitedLogger(logger)

_LATER_ANSWER_BYTES = 256 * 1024
"""What an answer that comes later is counted as until it is there: its size is not known yet, and
a client could ask for a hundred of them in the meantime. Kafka takes one request at a time."""
# To look up a member of an enumeration runs Python, which each request would pay for.
_API_VERSIONS = ApiKey.API_VERSIONS
_ANSWERED_IN_FEW_BYTES = {ApiKey.PRODUCE, ApiKey.FETCH}
"""Clients pipeline these, and what is large in their answers stays in its file."""


class Dispatcher:
    """Hands each frame to the handler of its API and sends back what that returns."""

    def __init__(self, broker: Broker, handlers: dict[ApiKey, Handler]) -> None:
        self._broker = broker
        self._handlers = handlers
        self._quotas = broker.quotas
        self._record = broker.request_times.record
        self._request = Request if broker.audit is None else broker.audit.request

    def __call__(self, connection: Connection, view: memoryview, reply: Reply) -> None:
        """Serve one frame; anything that is not Kafka's protocol closes the connection."""
        started_ns = perf_counter_ns()
        header = None
        try:
            header = parse_request_header(view)
            handler = self._handler(header)
            request = self._request(header, view, connection.session)
            if self._quotas.limits_requests:
                request.throttle = RequestThrottle(
                    self._quotas, connection, request.session, header, len(view)
                )
            answer = handler(self._broker, request)
        except Exception as error:
            _give_up(connection, header, error)
            return
        throttle = request.throttle
        if throttle is not None:
            throttle.handled()
        if isinstance(answer, Awaitable):
            if header.api_key not in _ANSWERED_IN_FEW_BYTES:
                reply.expect(_LATER_ANSWER_BYTES)
            elif request.waiting_bytes:
                reply.expect(request.waiting_bytes)
            later = (connection, reply, header, throttle, started_ns)
            if isinstance(answer, PendingAnswer):
                reply.attach(answer)
                answer.when_given(partial(self._given, *later))
            else:
                work = asyncio.ensure_future(answer)
                reply.attach(work)
                work.add_done_callback(partial(self._answered, *later))
        else:
            self._answer(reply, header, throttle, started_ns, answer)

    def _given(
        self,
        connection: Connection,
        reply: Reply,
        header: RequestHeader,
        throttle: RequestThrottle | None,
        started_ns: int,
        body: Response,
    ) -> None:
        try:
            self._answer(reply, header, throttle, started_ns, body)
        except Exception as error:
            _give_up(connection, header, error)

    def _answered(
        self,
        connection: Connection,
        reply: Reply,
        header: RequestHeader,
        throttle: RequestThrottle | None,
        started_ns: int,
        work: asyncio.Future[Response | None],
    ) -> None:
        if work.cancelled():
            return
        error = work.exception()
        if error is not None:
            _give_up(connection, header, error)
        else:
            self._answer(reply, header, throttle, started_ns, work.result())

    def _answer(
        self,
        reply: Reply,
        header: RequestHeader,
        throttle: RequestThrottle | None,
        started_ns: int,
        body: Response | None,
    ) -> None:
        if throttle is not None:
            body = throttle.answered(body)
        if body is None:
            reply.skip()
        else:
            api_key, version, correlation_id = header[:3]
            reply.send(response_header(api_key, version, correlation_id), body)
        self._record(header, perf_counter_ns() - started_ns)

    def _handler(self, header: RequestHeader) -> Handler:
        api_key = header.api_key
        handler = self._handlers.get(api_key)
        versions = SERVED.get(api_key)
        if handler is None or versions is None:
            raise HangUp(f"it sent {_name(header)}, which is not served here")
        if api_key is not _API_VERSIONS and header.api_version not in versions:
            raise HangUp(
                f"it sent {_name(header)}, of which only "
                f"v{versions.min} to v{versions.max} are served"
            )
        return handler


def _name(header: RequestHeader) -> str:
    """Return an API and its version as a log names them."""
    return f"{header.api_key.name} (API key {int(header.api_key)}) v{header.api_version}"


def _give_up(connection: Connection, header: RequestHeader | None, error: BaseException) -> None:
    what = None if header is None else header[:2]
    if isinstance(error, HangUp):
        connection.close(str(error), kind=(HangUp, what))
    elif isinstance(error, ProtocolError):
        if header is None:
            reason = f"{error}; it may not be speaking Kafka's protocol"
        else:
            reason = f"its {_name(header)} is malformed: {error}"
        connection.close(reason, kind=(ProtocolError, what))
    else:
        asked = "a request" if header is None else _name(header)
        _failures.error(
            (what, type(error), str(error)),
            "failed on %s from %s", asked, connection.session,
            exc_info=error,
        )  # fmt: skip
        connection.close("the broker failed on its request", kind=("failure", what))
