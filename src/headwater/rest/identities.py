"""Callers as themselves: a service for each, which logs in to the cluster as its caller.

The cluster says who may come in and what they may do. A service stays as long as its caller comes
back within the time that consumer instances are kept, and no longer than its token is good; there
are so many, and no more.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import math
import secrets
import time
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from headwater.clients.bearer_token import BearerToken, TokenSource
from headwater.clients.errors import ClientError
from headwater.clients.raw.broker_socket import open_socket
from headwater.http.answers import Stream
from headwater.http.errors import unauthorized
from headwater.http.principals import Principal
from headwater.http.streaming import generator_of
from headwater.rest.caller_credentials import Password, as_caller, read_credentials
from headwater.rest.callers import Caller, Callers
from headwater.rest.service import RestService
from headwater.rest.threads import Threads

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Awaitable

    from headwater.http.answers import Reply
    from headwater.http.authentication import Credentials
    from headwater.http.request import Request
    from headwater.http.routes import Route
    from headwater.rest.config import RestConfig

logger = logging.getLogger("headwater.rest")

_LOGINS_AT_A_TIME = 4
_LONGEST_PAUSE_S = 1.0
_PORT = 9092


class Identities:
    """Knows callers by their basic credentials or tokens, as the cluster does."""

    def __init__(self, config: RestConfig, realm: str = "headwater") -> None:
        schemes = ("Basic", "Bearer") if config.takes_passwords else ("Bearer",)
        self.challenge = ", ".join(f'{scheme} realm="{realm}"' for scheme in schemes)
        self._config = config
        self._callers = Callers()
        self._opening: dict[bytes, asyncio.Task[Caller | None]] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._threads = Threads(_LOGINS_AT_A_TIME, "rest-logins")
        self._key = secrets.token_bytes(32)
        self._expiring: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to let go of those who do not come back, or whose token has expired."""
        self._expiring = asyncio.create_task(self._expire())

    async def stop(self) -> None:
        """Let go of all."""
        if self._expiring is not None:
            self._expiring.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._expiring
        for caller in self._callers:
            self._end(caller)
        await asyncio.gather(*self._ending)
        self._threads.stop()

    def known(self, credentials: Credentials) -> Principal | None:
        """Return who has come in with these before."""
        caller = self._callers.find(self._digest(credentials.authorization or b""))
        return None if caller is None else caller.principal

    async def authenticate(self, credentials: Credentials) -> Principal | None:
        """Ask the cluster who it is; None for strangers. Raises HttpError."""
        authorization = credentials.authorization or b""
        digest = self._digest(authorization)
        caller = self._callers.find(digest)
        if caller is None:
            given = read_credentials(authorization)
            if given is None:
                return None
            if isinstance(given, Password) and not self._config.takes_passwords:
                return None
            opening = self._opening.get(digest)
            if opening is None:
                opening = asyncio.create_task(self._open(digest, given))
                self._opening[digest] = opening
                opening.add_done_callback(lambda _: self._opening.pop(digest, None))
            caller = await asyncio.shield(opening)
        return None if caller is None else caller.principal

    def handle(self, route: Route, request: Request) -> Awaitable[Reply]:
        """Call a route's handler with the service of who is asking."""
        caller = self._callers.find(self._digest(request.headers.get(b"authorization", b"")))
        if caller is None:
            raise unauthorized(self.challenge)
        return self._handle(caller, route, request)

    async def _handle(self, caller: Caller, route: Route, request: Request) -> Reply:
        with caller.busy():
            reply = await route.handler(caller.service, request)
        if isinstance(reply, Stream):
            return replace(reply, chunks=_counted(caller, reply.chunks), until=caller.ended)
        return reply

    async def _open(self, digest: bytes, given: Password | BearerToken) -> Caller | None:
        name, identity, until = self._name_of(given), digest.hex(), math.inf
        tokens: TokenSource | None = None
        if isinstance(given, BearerToken):
            identity, until = given.identity, given.expires_at
            config = as_caller(self._config, tokens := TokenSource(given))
        else:
            config = as_caller(self._config, given)
        if self._callers.of(identity) is None:
            self._callers.check_room()
        if not await self._threads.call(lambda: _logs_in(config, name)):
            return None
        caller = self._callers.of(identity)
        if caller is None:
            # With a token, this takes a second.
            service = await self._threads.call(lambda: RestService(config))
            # Somebody may have come meanwhile, also the same client with another token.
            caller = self._callers.of(identity)
            if caller is None:
                self._callers.check_room()
                method = "BASIC" if tokens is None else "BEARER"
                caller = Caller(identity, Principal(name, method=method), service, tokens)
                await service.start()
        if caller.tokens is not None and isinstance(given, BearerToken):
            caller.tokens.renew(given)
        self._callers.note(caller, digest, until)
        return caller

    def _name_of(self, given: Password | BearerToken) -> str:
        if isinstance(given, Password):
            return given.name
        return str(given.claims.get(self._config.name_claim, ""))

    async def _expire(self) -> None:
        patience_s = self._config.instance_timeout_s
        while True:
            await asyncio.sleep(min(_LONGEST_PAUSE_S, patience_s / 2))
            oldest = time.monotonic() - patience_s
            for caller in self._callers:
                is_idle = not caller.requests and caller.last_used < oldest
                if is_idle or caller.has_expired:
                    self._end(caller)

    def _end(self, caller: Caller) -> None:
        self._callers.forget(caller)
        ending = asyncio.create_task(caller.end())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    def _digest(self, authorization: bytes) -> bytes:
        return hashlib.blake2b(authorization, key=self._key).digest()


async def _counted(caller: Caller, chunks: AsyncIterable[bytes]) -> AsyncGenerator[bytes, None]:
    """Let a stream count as a request for as long as it lasts."""
    with caller.busy():
        async with aclosing(generator_of(chunks)) as whole:
            async for chunk in whole:
                yield chunk


def _logs_in(config: RestConfig, name: str) -> bool:
    """Whether the cluster lets somebody in; raises ClientError where no broker answers."""
    properties = config.access.librdkafka()
    unreachable: OSError | None = None
    for server in config.bootstrap_servers.split(","):
        address = urlsplit(f"//{server.strip()}")
        try:
            open_socket(address.hostname or "", address.port or _PORT, properties).close()
        except ClientError as refusal:
            # The name may be a claim of a token that nobody has checked.
            logger.info("%.100r was not let in: %s", name, refusal)
            return False
        except OSError as failure:
            unreachable = failure
        else:
            return True
    raise ClientError(f"no broker of {config.bootstrap_servers} answers: {unreachable}")
