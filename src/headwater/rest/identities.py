"""Callers as themselves: a service for each, which logs in to the cluster with their password.

The cluster says who may come in and what they may do. A service stays as long as its caller comes
back within the time that consumer instances are kept; there are so many, and no more.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import hashlib
import logging
import secrets
import time
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from headwater.clients.errors import ClientError
from headwater.clients.raw.broker_socket import open_socket
from headwater.http.errors import unauthorized
from headwater.http.principals import Principal
from headwater.rest.errors import too_many_requests
from headwater.rest.service import RestService
from headwater.rest.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from headwater.http.answers import Reply
    from headwater.http.authentication import Credentials
    from headwater.http.request import Request
    from headwater.http.routes import Route
    from headwater.rest.config import RestConfig

logger = logging.getLogger("headwater.rest")

MOST_CALLERS = 100
_LOGINS_AT_A_TIME = 4
_LONGEST_PAUSE_S = 1.0
_OWN = ("sasl.jaas.config", "sasl.username", "sasl.password")
_REFERENCE = "${"
_PORT = 9092


class _Caller:
    def __init__(self, principal: Principal, service: RestService) -> None:
        self.principal = principal
        self.service = service
        self.requests = 0
        self.last_used = time.monotonic()


class Identities:
    """Knows callers by their basic credentials, as the cluster does, and serves each as itself."""

    def __init__(self, config: RestConfig, realm: str = "headwater") -> None:
        self.challenge = f'Basic realm="{realm}"'
        self._config = config
        self._callers: dict[bytes, _Caller] = {}
        self._opening: dict[bytes, asyncio.Task[_Caller | None]] = {}
        self._threads = Threads(_LOGINS_AT_A_TIME, "rest-logins")
        self._key = secrets.token_bytes(32)
        self._expiring: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to let go of those who do not come back."""
        self._expiring = asyncio.create_task(self._expire())

    async def stop(self) -> None:
        """Let go of all."""
        if self._expiring is not None:
            self._expiring.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._expiring
        callers, self._callers = self._callers, {}
        await asyncio.gather(*(caller.service.stop() for caller in callers.values()))
        self._threads.stop()

    def known(self, credentials: Credentials) -> Principal | None:
        """Return who has come in with these before."""
        caller = self._callers.get(self._digest(credentials.authorization or b""))
        return None if caller is None else caller.principal

    async def authenticate(self, credentials: Credentials) -> Principal | None:
        """Ask the cluster who it is; None for strangers. Raises HttpError."""
        given = credentials.authorization or b""
        digest = self._digest(given)
        caller = self._callers.get(digest)
        if caller is None:
            name_and_password = _basic(given)
            if name_and_password is None:
                return None
            opening = self._opening.get(digest)
            if opening is None:
                opening = asyncio.create_task(self._open(digest, *name_and_password))
                self._opening[digest] = opening
                opening.add_done_callback(lambda _: self._opening.pop(digest, None))
            caller = await asyncio.shield(opening)
        return None if caller is None else caller.principal

    def handle(self, route: Route, request: Request) -> Awaitable[Reply]:
        """Call a route's handler with the service of who is asking."""
        caller = self._callers.get(self._digest(request.headers.get(b"authorization", b"")))
        if caller is None:
            raise unauthorized(self.challenge)
        return self._handle(caller, route, request)

    async def _handle(self, caller: _Caller, route: Route, request: Request) -> Reply:
        caller.requests += 1
        try:
            return await route.handler(caller.service, request)
        finally:
            caller.requests -= 1
            caller.last_used = time.monotonic()

    async def _open(self, digest: bytes, name: str, password: str) -> _Caller | None:
        if len(self._callers) >= MOST_CALLERS:
            raise too_many_requests("There are too many users at once.")
        config = _as_user(self._config, name, password)
        if not await self._threads.call(lambda: _logs_in(config)):
            return None
        service = RestService(config)
        await service.start()
        caller = self._callers[digest] = _Caller(Principal(name, method="BASIC"), service)
        return caller

    async def _expire(self) -> None:
        patience_s = self._config.instance_timeout_s
        while True:
            await asyncio.sleep(min(_LONGEST_PAUSE_S, patience_s / 2))
            oldest = time.monotonic() - patience_s
            for digest, caller in list(self._callers.items()):
                if not caller.requests and caller.last_used < oldest:
                    del self._callers[digest]
                    await caller.service.stop()

    def _digest(self, authorization: bytes) -> bytes:
        return hashlib.blake2b(authorization, key=self._key).digest()


def _as_user(config: RestConfig, name: str, password: str) -> RestConfig:
    """Return the proxy's settings with somebody else's name and password."""

    def others(properties: dict[str, str]) -> dict[str, str]:
        return {key: value for key, value in properties.items() if key not in _OWN}

    return replace(
        config,
        client={**others(config.client), "sasl.username": name, "sasl.password": password},
        producer=others(config.producer),
        consumer=others(config.consumer),
    )


def _logs_in(config: RestConfig) -> bool:
    """Whether the cluster lets somebody in; raises ClientError where no broker answers."""
    properties = config.access.librdkafka()
    unreachable: OSError | None = None
    for server in config.bootstrap_servers.split(","):
        address = urlsplit(f"//{server.strip()}")
        try:
            open_socket(address.hostname or "", address.port or _PORT, properties).close()
        except ClientError as refusal:
            logger.info("%s was not let in: %s", config.client["sasl.username"], refusal)
            return False
        except OSError as failure:
            unreachable = failure
        else:
            return True
    raise ClientError(f"no broker of {config.bootstrap_servers} answers: {unreachable}")


def _basic(authorization: bytes) -> tuple[str, str] | None:
    scheme, _, encoded = authorization.partition(b" ")
    if scheme.lower() != b"basic":
        return None
    try:
        name, colon, password = (
            base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
        )
    except (binascii.Error, UnicodeDecodeError):
        return None
    # What stands for a secret of this machine in settings is no password of anybody's.
    if not colon or not name or not password or _REFERENCE in name + password:
        return None
    return name, password
