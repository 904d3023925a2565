"""Passing a request on to the instance that leads."""

from __future__ import annotations

import asyncio
import http.client
import socket
import ssl
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from headwater.http.answers import Answer

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.http.request import Request

# Whoever gets a request with this header answers it or says that it cannot.
FORWARDED = b"x-forward"

_PASSED_ON = (b"content-type", b"accept", b"authorization")


class LeaderUnreachableError(Exception):
    """The leader could not be asked. `was_sent` tells whether it may have done it all the same."""

    def __init__(self, message: str, *, was_sent: bool) -> None:
        super().__init__(message)
        self.was_sent = was_sent


class Forwarder:
    """Asks the leader, in threads, as this happens rarely."""

    def __init__(
        self,
        timeout_s: float,
        ca_file: Path | None = None,
        certificate_file: Path | None = None,
        key_file: Path | None = None,
    ) -> None:
        self._timeout_s = timeout_s
        self._ca_file = ca_file
        self._certificate_file = certificate_file
        self._key_file = key_file

    async def ask(self, url: str, request: Request) -> Answer:
        """Return the leader's answer to a request."""
        connection = self._connect(url)
        try:
            return await asyncio.to_thread(_exchange, connection, url, request)
        except asyncio.CancelledError:
            if connection.sock is not None:
                with suppress(OSError):
                    connection.sock.shutdown(socket.SHUT_RDWR)  # so that the thread ends, too
            raise

    def _connect(self, url: str) -> http.client.HTTPConnection:
        parts = urlsplit(url)
        host = parts.hostname or ""
        if parts.scheme == "https":
            context = ssl.create_default_context(cafile=self._ca_file)
            if self._certificate_file is not None:
                # A leader that wants to see its clients' certificates gets ours.
                context.load_cert_chain(self._certificate_file, self._key_file)
            return http.client.HTTPSConnection(
                host, parts.port, timeout=self._timeout_s, context=context
            )
        return http.client.HTTPConnection(host, parts.port, timeout=self._timeout_s)


def _exchange(connection: http.client.HTTPConnection, url: str, request: Request) -> Answer:
    headers = {
        name.decode(): request.headers[name].decode("latin-1")
        for name in _PASSED_ON
        if name in request.headers
    }
    headers[FORWARDED.decode()] = "true"
    try:
        try:
            connection.connect()
        except OSError as failure:
            raise LeaderUnreachableError(f"{url}: {failure}", was_sent=False) from None
        try:
            connection.request(request.method, request.target, request.body or None, headers)
            response = connection.getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException) as failure:
            raise LeaderUnreachableError(f"{url}: {failure}", was_sent=True) from None
    finally:
        connection.close()
    return Answer(body, response.status, response.headers.get("content-type"))
