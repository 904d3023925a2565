"""What stands before the pages: log-in, other sites' requests, and what a browser may load.

A page of another site must not act through a visitor's browser. So a request that changes
something, and every WebSocket, has to come from a page of this console (`Origin`); and a console
that asks for no password answers only to names that no stranger's domain can have (`Host`).
"""

from __future__ import annotations

import base64
import ipaddress
import secrets
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, urlsplit

from headwater.console.login_page import login_page
from headwater.console.sessions import COOKIE, LASTS_S, Sessions
from headwater.http.authentication import Credentials

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.http.asgi import Application, Message, Receive, Scope, Send
    from headwater.http.authentication import Authenticator

_MAX_FORM_BYTES = 16 * 1024
_POLICY_VIOLATION = 1008
_SAFE = ("GET", "HEAD", "OPTIONS")
_FILES = ("/_nicegui/", "/static/")
_OPEN = ("/health", "/login", "/metrics")

# Vue compiles its templates in the browser, which is 'unsafe-eval'. Scripts in a page's text run
# only with the page's own nonce, which nothing that is shown can know.
_POLICY = (
    "default-src 'self'; script-src 'self' 'nonce-{nonce}' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; "
    "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)


class Gate:
    """Lets requests through to an application that asks for basic authentication, or for none."""

    has_lifespan = True
    has_sockets = True

    def __init__(
        self,
        app: Application,
        authenticator: Authenticator | None,
        *,
        is_secure: bool = False,
        allowed_hosts: Sequence[str] = (),
    ) -> None:
        self._app = app
        self._authenticator = authenticator
        self._sessions = Sessions()
        self._is_secure = is_secure
        self._allowed_hosts = frozenset(allowed_hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or say why not."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(scope, send, refusal)
        elif scope["type"] == "websocket":
            await self._app(self._recognised(scope, headers), receive, send)
        else:
            await self._answer(scope, headers, receive, _guarded(send))

    async def _answer(
        self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, send: Send
    ) -> None:
        path = scope["path"]
        if self._authenticator is not None:
            if path == "/login":
                await self._log_in(scope, receive, send)
                return
            if path == "/logout" and scope["method"] == "POST":
                self._sessions.end(_token(headers))
                await _redirect(send, "/login", _cookie("", 0, is_secure=self._is_secure))
                return
        scope = self._recognised(scope, headers)
        if self._is_stranger(scope, path) and b"text/html" in headers.get(b"accept", b""):
            target = path + (f"?{scope['query_string'].decode()}" if scope["query_string"] else "")
            await _redirect(send, f"/login?to={quote(target, safe='')}")
            return
        await self._app(_uncompressed(scope), receive, send)

    def _is_stranger(self, scope: Scope, path: str) -> bool:
        if self._authenticator is None or path in _OPEN:
            return False
        shown = Credentials.of(scope, dict(scope["headers"]))
        return shown.authorization is None and shown.certificate is None

    def _recognised(self, scope: Scope, headers: dict[bytes, bytes]) -> Scope:
        """Return the scope with the credentials that its session stands for."""
        if self._authenticator is None or b"authorization" in headers:
            return scope
        authorization = self._sessions.authorization(_token(headers))
        if authorization is None:
            return scope
        return {**scope, "headers": [*scope["headers"], (b"authorization", authorization)]}

    async def _log_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._authenticator is not None
        query = parse_qs(scope["query_string"].decode("latin-1"))
        target = _local(query.get("to", ["/"])[0])
        if scope["method"] != "POST":
            await _send_page(send, 200, login_page(target))
            return
        form = await _form(receive)
        name, password = form.get("name", [""])[0], form.get("password", [""])[0]
        authorization = b"Basic " + base64.b64encode(f"{name}:{password}".encode())
        who = await self._authenticator.authenticate(Credentials(authorization))
        if who is None:
            await _send_page(send, 401, login_page(target, "The name or the password is wrong."))
            return
        token = self._sessions.begin(authorization)
        cookie = _cookie(token, LASTS_S, is_secure=self._is_secure)
        await _redirect(send, _local(form.get("to", ["/"])[0]), cookie)

    def _refusal(self, scope: Scope, headers: dict[bytes, bytes]) -> str | None:
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if self._authenticator is None and not self._is_known(host):
            return (
                f"The console has no users, and is not called '{host}': use its address, or name "
                "it in allowed.hosts"
            )
        if scope["type"] == "http" and scope["method"] in _SAFE:
            return None
        origin = headers.get(b"origin")
        if origin is None:
            # No browser leaves it out of such a request; curl does.
            return None
        if urlsplit(origin.decode("latin-1").lower()).netloc != host:
            return "The request came from a page of another site"
        return None

    def _is_known(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name == "localhost" or name in self._allowed_hosts:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def _uncompressed(scope: Scope) -> Scope:
    """Return a scope whose page is not compressed: its scripts get their nonce on the way."""
    if scope["path"].startswith(_FILES):
        return scope
    headers = [each for each in scope["headers"] if each[0] != b"accept-encoding"]
    return {**scope, "headers": headers}


def _guarded(send: Send) -> Send:
    """Return a `send` that gives answers their policy, and the scripts of pages its nonce."""
    nonce = secrets.token_urlsafe(16)
    page: list[bytes] = []
    start: Message = {}

    async def guarded(message: Message) -> None:
        nonlocal start
        if message["type"] == "http.response.start":
            start = {**message, "headers": [*message["headers"], *_guards(nonce)]}
            if not _is_page(message):
                await send(start)
        elif _is_page(start):
            page.append(message.get("body", b""))
            if not message.get("more_body"):
                await _send_whole(send, start, _with_nonce(b"".join(page), nonce))
        else:
            await send(message)

    return guarded


def _with_nonce(page: bytes, nonce: str) -> bytes:
    # What is shown has its < escaped, so these are the page's own.
    return page.replace(b"<script", f'<script nonce="{nonce}"'.encode())


async def _send_whole(send: Send, start: Message, body: bytes) -> None:
    headers = [each for each in start["headers"] if each[0].lower() != b"content-length"]
    length = (b"content-length", str(len(body)).encode())
    await send({**start, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})


def _guards(nonce: str) -> list[tuple[bytes, bytes]]:
    return [
        (b"content-security-policy", _POLICY.format(nonce=nonce).encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
        (b"referrer-policy", b"same-origin"),
    ]


def _is_page(start: Message) -> bool:
    kind = next((v for n, v in start.get("headers", ()) if n.lower() == b"content-type"), b"")
    return bool(kind.startswith(b"text/html"))


def _token(headers: dict[bytes, bytes]) -> str:
    try:
        cookies = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1"))
    except CookieError:
        return ""
    return cookies[COOKIE].value if COOKIE in cookies else ""


def _cookie(token: str, lasts_s: int, *, is_secure: bool) -> bytes:
    flags = "; Secure" if is_secure else ""
    text = f"{COOKIE}={token}; Max-Age={lasts_s}; Path=/; HttpOnly; SameSite=Strict{flags}"
    return text.encode()


def _local(target: str) -> str:
    """Return a target on this site, so that a log-in leads nowhere else."""
    if not target.startswith("/") or target.startswith(("//", "/\\")):
        return "/"
    return target.replace("\r", "").replace("\n", "")


async def _form(receive: Receive) -> dict[str, list[str]]:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > _MAX_FORM_BYTES or not message.get("more_body"):
            return parse_qs(body[:_MAX_FORM_BYTES].decode("utf-8", "replace"))


async def _refuse(scope: Scope, send: Send, why: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": why[:100]})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await _send_whole(
        send,
        {"type": "http.response.start", "status": 403, "headers": headers},
        f"{why}.\n".encode(),
    )


async def _redirect(send: Send, target: str, cookie: bytes | None = None) -> None:
    headers = [(b"location", target.encode("latin-1", "replace")), (b"cache-control", b"no-store")]
    if cookie is not None:
        headers.append((b"set-cookie", cookie))
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def _send_page(send: Send, status: int, page: bytes) -> None:
    headers = [(b"content-type", b"text/html; charset=utf-8"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": page})
