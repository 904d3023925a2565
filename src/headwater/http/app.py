"""The ASGI application: who is asking, for what, and the answer."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Generic
from urllib.parse import parse_qs

from headwater.http import loggers
from headwater.http.answer_cache import Key, Remembered
from headwater.http.answers import JSON, Answer, Reply, Stream
from headwater.http.authentication import Anybody, Credentials
from headwater.http.body import Body
from headwater.http.errors import (
    ClientDisconnectedError,
    HttpError,
    bad_request,
    not_acceptable,
    not_found,
    unauthorized,
    unsupported_media_type,
)
from headwater.http.health import PATH as HEALTH
from headwater.http.health import Health
from headwater.http.loggers import PATH as LOGGERS
from headwater.http.metrics import CONTENT_TYPE
from headwater.http.openapi import document
from headwater.http.request import Request
from headwater.http.routes import AnyRoute, Router, split_path
from headwater.http.streaming import STOPPING, send_stream
from headwater.http.websocket import INTERNAL_ERROR, POLICY_VIOLATION, WebSocket

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from headwater.http.access_log import AccessLog
    from headwater.http.answer_cache import AnswerCache
    from headwater.http.asgi import Application, Message, Receive, Scope, Send
    from headwater.http.authentication import Authenticator
    from headwater.http.interface import Interface
    from headwater.http.metrics import RequestMetrics
    from headwater.http.principals import Principal
    from headwater.http.rights import Rights
    from headwater.http.routes import Route
    from headwater.http.websocket import SocketHandler

logger = logging.getLogger("headwater.http")

MAX_REQUEST_BYTES = 4 * 1024 * 1024

_SWITCHING_PROTOCOLS = 101


class App(Generic[AnyRoute]):
    """Answers the requests of one service.

    `handle` calls a route's handler; a service that has more to do around it does it there.
    `rewrite` may change a request before its route is looked for. `rest` is an ASGI application
    that gets what no route serves, such as a console's pages. Where there are `rights`, `authorize`
    raises what a client is told who may not have a route. `administer` does so for who may not
    change what is the process's own: the levels of its loggers. `sockets` has what serves
    WebSockets, by path.

        App(interface, call_handler(service), RequestMetrics("headwater_rest"))
    """

    def __init__(
        self,
        interface: Interface[AnyRoute],
        handle: Callable[[AnyRoute, Request], Awaitable[Reply]],
        metrics: RequestMetrics,
        *,
        rewrite: Callable[[Request], None] | None = None,
        authenticator: Authenticator | None = None,
        rights: Rights | None = None,
        authorize: Callable[[AnyRoute, Request], None] | None = None,
        administer: Callable[[Request], None] | None = None,
        cache: AnswerCache | None = None,
        health: Health | None = None,
        access_log: AccessLog | None = None,
        max_request_bytes: int | None = MAX_REQUEST_BYTES,
        rest: Application | None = None,
        sockets: Mapping[str, SocketHandler] | None = None,
    ) -> None:
        self._interface = interface
        self._handle = handle
        self._metrics = metrics
        self._rewrite = rewrite
        self._authenticator = authenticator or Anybody()
        self._rights = rights
        self._authorize = authorize
        self._administer = administer
        self._cache = cache
        self._health = health or Health()
        self._access_log = access_log
        self._max_request_bytes = max_request_bytes
        self._rest = rest
        self._sockets = {tuple(split_path(path)): each for path, each in (sockets or {}).items()}
        self.has_lifespan = rest is not None  # whether the server tells of its start and end
        self.has_sockets = rest is not None or bool(sockets)
        self._router = Router(interface.routes)
        self._openapi = Answer(document(interface), content_type=JSON)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._pass_on(scope, receive, send)
            return
        started = time.perf_counter()
        headers = dict(scope["headers"])
        principal = self._authenticator.known(Credentials.of(scope, headers))
        media_type = self._interface.media.negotiate(headers.get(b"accept"))
        if self._cache is not None and scope["method"] == "GET" and principal is not None:
            key = (principal, scope["raw_path"], scope["query_string"], media_type)
            remembered = self._cache.get(key)
            if remembered is not None:
                await send(remembered.start)
                await send(remembered.body)
                self._count(scope, principal, remembered.route, 200, started)
                return
        await self._answer(_Exchange(scope, headers, receive, send, media_type, started))

    async def _answer(self, exchange: _Exchange[AnyRoute]) -> None:
        scope = exchange.scope
        if self._cache is not None:
            exchange.changes = self._cache.changes
        try:
            reply = await self._reply(exchange)
        except HttpError as failure:
            reply = self._interface.form(failure)
        except ClientDisconnectedError:
            reply = self._interface.form(bad_request("The client went away"))
        except Exception as failure:
            logger.exception("%s %s failed", scope["method"], scope["path"])
            message = f"Internal Server Error: {type(failure).__name__}: {failure}"
            reply = self._interface.form(HttpError(500, 50001, message))
        if reply is None:
            return
        media_type = exchange.media_type or self._interface.media.default
        start = _start(reply, media_type)
        if isinstance(reply, Stream) and scope["method"] != "HEAD":
            stopping = scope.get("state", {}).get(STOPPING)
            await send_stream(start, reply, exchange.body, exchange.send, stopping)
        else:
            body = {"type": "http.response.body", "body": b""}
            if isinstance(reply, Answer) and scope["method"] != "HEAD":
                body["body"] = reply.body
                self._remember(exchange, reply, start, body)
            await exchange.send(start)
            await exchange.send(body)
        self._count(scope, exchange.principal, exchange.route, reply.status, exchange.started)

    async def _reply(self, exchange: _Exchange[AnyRoute]) -> Reply | None:
        request = self._request(exchange)
        if request.segments == [HEALTH] and request.method == "GET":
            return self._health.answer()
        credentials = Credentials.of(exchange.scope, exchange.headers)
        principal = await self._authenticator.authenticate(credentials)
        if principal is None:
            raise unauthorized(self._authenticator.challenge)
        exchange.principal = request.principal = principal
        if request.method == "GET":
            if request.segments == ["metrics"]:
                return Answer(self._metrics.text(), content_type=CONTENT_TYPE)
            if request.segments == ["openapi.json"]:
                return self._openapi
        if tuple(request.segments[:2]) == LOGGERS and not self._router.knows(request):
            if request.method != "GET" and self._administer is not None:
                request.rights = self._rights
                self._administer(request)
            return loggers.answer(request.method, request.segments, await exchange.body.whole())
        if self._rest is not None and not self._router.knows(request):
            await self._pass_request_on(exchange, principal, self._rest)
            return None
        if exchange.media_type is None:
            raise not_acceptable()
        if self._rewrite is not None:
            self._rewrite(request)
        route = exchange.route = self._router.find(request)
        if not route.takes_stream:
            request.body = await exchange.body.whole()
            self._check_type(exchange, is_empty=not request.body)
        else:
            exchange.body.lift_limit()
            self._check_type(exchange, is_empty=False)
        if self._rights is not None:
            request.rights = self._rights
            if self._authorize is not None:
                self._authorize(route, request)
        return await self._handle(route, request)

    def _request(self, exchange: _Exchange[AnyRoute]) -> Request:
        scope, headers = exchange.scope, exchange.headers
        try:
            path = scope["raw_path"].decode("ascii")
            query = scope["query_string"].decode("ascii")
            segments = split_path(path)
            parameters = parse_qs(query, keep_blank_values=True, errors="strict")
        except ValueError as failure:
            raise bad_request(f"The request's path is malformed: {failure}") from None
        exchange.body = Body.of(scope, headers, exchange.receive, self._max_request_bytes)
        return Request(
            "GET" if scope["method"] == "HEAD" else scope["method"],
            segments,
            parameters,
            headers,
            target=f"{path}?{query}" if query else path,
            media_type=exchange.media_type or "",
            incoming=exchange.body,
        )

    def _check_type(self, exchange: _Exchange[AnyRoute], *, is_empty: bool) -> None:
        if not is_empty and not self._interface.media.takes(exchange.headers.get(b"content-type")):
            raise unsupported_media_type()

    def _remember(
        self, exchange: _Exchange[AnyRoute], reply: Answer, start: Message, body: Message
    ) -> None:
        route, principal, scope = exchange.route, exchange.principal, exchange.scope
        if self._cache is None or route is None or principal is None or route.changes:
            return
        if scope["method"] == "GET" and reply.status == 200 and exchange.media_type is not None:
            path, query = scope["raw_path"], scope["query_string"]
            key = Key(principal, path, query, exchange.media_type)
            self._cache.put(key, Remembered(route, start, body), exchange.changes)

    def _count(
        self,
        scope: Scope,
        principal: Principal | None,
        route: Route | None,
        status: int,
        started: float,
    ) -> None:
        seconds = time.perf_counter() - started
        self._metrics.count(route, status, seconds)
        if self._access_log is not None:
            self._access_log.note(scope, principal, status, seconds)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and self._sockets:
            await self._serve_socket({**scope, "method": "GET"}, WebSocket(receive, send))
            return
        if self._rest is None:
            return
        if scope["type"] == "websocket":
            credentials = Credentials.of(scope, dict(scope["headers"]))
            principal = await self._authenticator.authenticate(credentials)
            if principal is None:
                await send({"type": "websocket.close", "code": POLICY_VIOLATION})
                return
            scope.setdefault("state", {})["principal"] = principal
        await self._rest(scope, receive, send)

    async def _serve_socket(self, scope: Scope, socket: WebSocket) -> None:
        started = time.perf_counter()
        headers = dict(scope["headers"])
        exchange: _Exchange[AnyRoute] = _Exchange(scope, headers, _nothing, _nowhere, JSON, started)
        try:
            credentials = Credentials.of(scope, headers)
            exchange.principal = await self._authenticator.authenticate(credentials)
            if exchange.principal is None:
                raise unauthorized(self._authenticator.challenge)
            request = self._request(exchange)
            request.principal, request.rights = exchange.principal, self._rights
            serve = self._sockets.get(tuple(request.segments))
            if serve is None:
                raise not_found()
        except HttpError as failure:
            reply = self._interface.form(failure)
            await socket.deny(reply._replace(content_type=reply.content_type or JSON))
            self._count(scope, exchange.principal, None, failure.status, started)
            return
        await socket.accept()
        try:
            await serve(request, socket)
        except ClientDisconnectedError:
            pass  # while something was sent; there is nobody left to tell
        except Exception as failure:
            logger.exception("%s failed", scope["path"])
            await socket.close(INTERNAL_ERROR, f"{type(failure).__name__}: {failure}")
        self._count(scope, exchange.principal, None, _SWITCHING_PROTOCOLS, started)

    async def _pass_request_on(
        self, exchange: _Exchange[AnyRoute], principal: Principal, rest: Application
    ) -> None:
        status = 500

        async def send(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await exchange.send(message)

        exchange.scope.setdefault("state", {})["principal"] = principal
        await rest(exchange.scope, exchange.receive, send)
        self._count(exchange.scope, principal, None, status, exchange.started)


def call_handler(service: object) -> Callable[[Route, Request], Awaitable[Reply]]:
    """Return what an App needs to call handlers, where there is nothing to do around them."""

    def handle(route: Route, request: Request) -> Awaitable[Reply]:
        return route.handler(service, request)

    return handle


class _Exchange(Generic[AnyRoute]):
    """A request on its way, and what was found out about it."""

    def __init__(
        self,
        scope: Scope,
        headers: dict[bytes, bytes],
        receive: Receive,
        send: Send,
        media_type: str | None,
        started: float,
    ) -> None:
        self.scope = scope
        self.headers = headers
        self.receive = receive
        self.send = send
        self.media_type = media_type
        self.started = started
        self.changes = 0  # of the service, when the request came
        self.body = Body()
        self.route: AnyRoute | None = None
        self.principal: Principal | None = None


async def _nothing() -> Message:
    return {"type": "http.request", "body": b""}  # a WebSocket's request has no body


async def _nowhere(message: Message) -> None:
    raise AssertionError(f"{message['type']} is no message of a WebSocket")


def _start(reply: Reply, media_type: str) -> Message:
    headers = list(reply.headers)
    if isinstance(reply, Stream):
        headers.append((b"content-type", reply.content_type.encode()))
    else:
        headers.append((b"content-length", str(len(reply.body)).encode()))
        if reply.body:
            headers.append((b"content-type", (reply.content_type or media_type).encode()))
    return {"type": "http.response.start", "status": reply.status, "headers": headers}
