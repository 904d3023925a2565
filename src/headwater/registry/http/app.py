"""The ASGI application: limits, authentication, routing, errors, and what is known by heart."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from headwater.registry.errors import RegistryError
from headwater.registry.http.answer import V1_JSON, Answer, error, is_accepted, negotiate
from headwater.registry.http.api import ROUTES
from headwater.registry.http.auth import REALM
from headwater.registry.http.openapi import document
from headwater.registry.http.request import Request
from headwater.registry.http.routes import Router, enter_context, replace_aliases, split_path
from headwater.registry.metrics import CONTENT_TYPE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from headwater.registry.http.auth import BasicAuth
    from headwater.registry.http.leader import LeaderGate
    from headwater.registry.http.routes import Route
    from headwater.registry.metrics import Metrics
    from headwater.registry.service import RegistryService

    Scope = dict[str, Any]
    Receive = Callable[[], Awaitable[dict[str, Any]]]
    Send = Callable[[dict[str, Any]], Awaitable[None]]

logger = logging.getLogger("headwater.registry")

MAX_REMEMBERED = 10_000
MAX_REMEMBERED_BYTES = 100_000


class RegistryApp:
    """Answers requests.

    Answers to GET requests are remembered, byte for byte, until the store changes.
    """

    def __init__(
        self,
        service: RegistryService,
        gate: LeaderGate,
        metrics: Metrics,
        *,
        auth: BasicAuth | None = None,
        max_request_bytes: int,
    ) -> None:
        self._service = service
        self._gate = gate
        self._metrics = metrics
        self._auth = auth
        self._max_request_bytes = max_request_bytes
        self._router = Router(ROUTES)
        self._openapi = Answer(document(), content_type="application/json")
        self._remembered: dict[tuple[bytes, bytes, str], tuple[Any, Any, Route]] = {}

    def forget(self) -> None:
        """Remember no answers: something changed."""
        self._remembered.clear()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        started = time.perf_counter()
        headers = dict(scope["headers"])
        content_type = negotiate(headers.get(b"accept"))
        remembered = None
        if scope["method"] == "GET" and content_type is not None and self._may_enter(headers):
            key = (scope["raw_path"], scope["query_string"], content_type)
            remembered = self._remembered.get(key)
        if remembered is not None:
            start, body, route = remembered
            await send(start)
            await send(body)
            self._count(route, 200, started)
            return
        await self._answer(scope, headers, receive, send, content_type, started)

    async def _answer(
        self,
        scope: Scope,
        headers: dict[bytes, bytes],
        receive: Receive,
        send: Send,
        content_type: str | None,
        started: float,
    ) -> None:
        request = Request("", [])
        route: Route | None = None
        try:
            if not self._may_enter(headers):
                raise RegistryError(401, 401, "Unauthorized: give a user and a password")
            request = self._request(scope, headers)
            special = self._special(request)
            if special is not None:
                found = special
            else:
                if content_type is None:
                    raise RegistryError(406, 406, "HTTP 406 Not Acceptable: JSON is all there is")
                enter_context(request)
                replace_aliases(request, self._service)
                route = self._router.find(request)
                request.body = await self._body(headers, receive)
                found = await self._gate.handle(route, request, _target(scope))
        except RegistryError as failure:
            found = error(failure.code, failure.message, failure.status)
        except Exception as failure:
            logger.exception("%s %s failed", scope["method"], scope["path"])
            message = f"Internal Server Error: {type(failure).__name__}: {failure}"
            found = error(50001, message, 500)
        start, body = _messages(found, content_type or V1_JSON)
        is_small = len(found.body) <= MAX_REMEMBERED_BYTES
        if route is not None and request.method == "GET" and found.status == 200 and is_small:
            if len(self._remembered) >= MAX_REMEMBERED:
                self._remembered.clear()
            key = (scope["raw_path"], scope["query_string"], content_type or V1_JSON)
            self._remembered[key] = (start, body, route)
        await send(start)
        await send(body if scope["method"] != "HEAD" else {**body, "body": b""})
        self._count(route, found.status, started)

    def _may_enter(self, headers: dict[bytes, bytes]) -> bool:
        return self._auth is None or self._auth.user(headers.get(b"authorization")) is not None

    def _request(self, scope: Scope, headers: dict[bytes, bytes]) -> Request:
        try:
            segments = split_path(scope["raw_path"].decode("ascii"))
            query = parse_qs(scope["query_string"].decode("ascii"), keep_blank_values=True)
        except (UnicodeDecodeError, ValueError):
            raise RegistryError(400, 400, "The request's path is malformed") from None
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        return Request(method, segments, query, headers)

    def _special(self, request: Request) -> Answer | None:
        if request.method != "GET":
            return None
        if request.segments == ["metrics"]:
            return Answer(self._metrics.text(), content_type=CONTENT_TYPE)
        return self._openapi if request.segments == ["openapi.json"] else None

    async def _body(self, headers: dict[bytes, bytes], receive: Receive) -> bytes:
        declared = headers.get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > self._max_request_bytes:
            raise self._too_large()
        parts: list[bytes] = []
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise RegistryError(400, 400, "The client went away")
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._max_request_bytes:
                raise self._too_large()
            more = message.get("more_body", False)
        if size and not is_accepted(headers.get(b"content-type")):
            raise RegistryError(415, 415, "HTTP 415 Unsupported Media Type: send JSON")
        return b"".join(parts)

    def _too_large(self) -> RegistryError:
        return RegistryError(
            413, 413, f"The request is larger than {self._max_request_bytes} bytes"
        )

    def _count(self, route: Route | None, status: int, started: float) -> None:
        method, path = ("other", "other") if route is None else (route.method, route.path)
        self._metrics.requests.labels(method, path, str(status)).inc()
        self._metrics.seconds.labels(method, path).observe(time.perf_counter() - started)


def _messages(found: Answer, content_type: str) -> tuple[dict[str, Any], dict[str, Any]]:
    headers = [(b"content-length", str(len(found.body)).encode())]
    if found.body:
        headers.append((b"content-type", (found.content_type or content_type).encode()))
    if found.status == 401:
        headers.append((b"www-authenticate", f'Basic realm="{REALM}"'.encode()))
    return (
        {"type": "http.response.start", "status": found.status, "headers": headers},
        {"type": "http.response.body", "body": found.body},
    )


def _target(scope: Scope) -> str:
    path: str = scope["raw_path"].decode("ascii")
    query: str = scope["query_string"].decode("ascii")
    return f"{path}?{query}" if query else path
