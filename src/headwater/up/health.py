"""Health checks: is a service ready for its clients, seen from outside as they see it?"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import struct
from abc import ABC, abstractmethod
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ANSWER_WITHIN_S = 5.0

_API_VERSIONS = 18
_CLIENT_ID = b"headwater-up"


class UnhealthyError(Exception):
    """A service does not answer as it should; the message says how."""


class UnresponsiveError(UnhealthyError):
    """A service does not answer at all."""


class HealthCheck(ABC):
    """Asks a service once."""

    async def check(self, within_s: float = ANSWER_WITHIN_S) -> None:
        """Raise UnhealthyError if the service does not answer as it should.

        It is an UnresponsiveError if there was no answer, or none in time.
        """
        try:
            async with asyncio.timeout(within_s):
                await self._ask()
        except TimeoutError:
            raise UnresponsiveError(f"no answer within {within_s:g} s") from None
        except ssl.SSLError as failure:
            raise UnhealthyError(_reason(failure)) from None
        except (OSError, EOFError) as failure:
            raise UnresponsiveError(_reason(failure)) from None

    @abstractmethod
    async def _ask(self) -> None: ...


@dataclass(frozen=True)
class KafkaCheck(HealthCheck):
    """A broker is healthy when it says which requests it knows: ApiVersions, the first of all."""

    host: str
    port: int
    tls: bool = False

    async def _ask(self) -> None:
        # Where clients have to log in, this is what they may ask before.
        tls = _any_certificate() if self.tls else None
        async with _connection(self.host, self.port, tls) as (reader, writer):
            writer.write(
                struct.pack(">ihhih", 10 + len(_CLIENT_ID), _API_VERSIONS, 0, 1, len(_CLIENT_ID))
                + _CLIENT_ID
            )
            _size, correlation, error = struct.unpack(">iih", await reader.readexactly(10))
        if (correlation, error) != (1, 0):
            raise UnhealthyError(f"it answers with error {error}; is it a broker?")


@dataclass(frozen=True)
class HttpCheck(HealthCheck):
    """An HTTP service is healthy when it answers a GET; a demand for a password is an answer.

    Of one that lets nobody in without a certificate, it has to do that it shakes hands.
    """

    host: str
    port: int
    path: str = "/"
    tls: bool = False
    requires_certificate: bool = False

    async def _ask(self) -> None:
        tls = _any_certificate() if self.tls else None
        async with _connection(self.host, self.port, tls) as (reader, writer):
            if self.requires_certificate:
                return
            writer.write(
                f"GET {self.path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n"
                "Connection: close\r\n\r\n".encode()
            )
            try:
                status = (await reader.readline()).split(b" ")
            except ValueError:  # the line has no end
                status = []
        if len(status) < 2 or not status[0].startswith(b"HTTP/"):
            raise UnhealthyError("it does not speak HTTP")
        if status[1].startswith(b"5"):
            raise UnhealthyError(f"HTTP {status[1].decode('latin-1')} on {self.path}")


@asynccontextmanager
async def _connection(
    host: str, port: int, tls: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection(host, port, ssl=tls)
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(OSError):  # it has answered, or failed to, by now
            await writer.wait_closed()


def _reason(failure: OSError | EOFError) -> str:
    if isinstance(failure, ssl.SSLError):
        return f"TLS: {(failure.reason or str(failure)).replace('_', ' ').lower()}"
    if isinstance(failure, socket.gaierror):
        return str(failure.strerror)
    if isinstance(failure, OSError):
        # asyncio's own words for an error of the system are long, and differ.
        return os.strerror(failure.errno) if failure.errno else str(failure) or "it hung up"
    return "it hung up"


def _any_certificate() -> ssl.SSLContext:
    # Whether clients trust it is their affair; here it only has to answer.
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
