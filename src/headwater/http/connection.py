"""A connection: HTTP/1.1 is uvicorn's, with an end to everybody's patience; HTTP/2 is `http2`'s.

uvicorn closes connections on which nothing was asked for a while, and has no limit for those on
which a request was begun: a client that sends a byte now and then would stay for ever. Here
`overdue` tells the server which connections to close; it looks once a second, so that a request
costs no timer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from headwater.http.authentication import CERTIFICATE
from headwater.http.tls import subject_of

if TYPE_CHECKING:
    import asyncio

# With this, clients begin that speak HTTP/2 without having asked.
HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

# Jetty's idle time-out, which is Confluent's, is as long.
HEAD_WITHIN_S = 30.0

# A line of that length is no address, and a megabyte of headers no request.
MAX_HEAD_BYTES = 64 * 1024

_TIMED_OUT = b"The request did not come within %d s\n"
_TOO_LARGE = b"The request's head is larger than %d bytes\n"


class Http1Connection(HttpToolsProtocol):
    """One client, and the request that it is about to send."""

    head_within_s = HEAD_WITHIN_S
    max_head_bytes = MAX_HEAD_BYTES

    def __init__(self, *positional: Any, **named: Any) -> None:
        super().__init__(*positional, **named)
        # When the head that is awaited began to be; None while a request is being answered.
        self._awaited_since: float | None = None
        self._head_bytes = 0
        self._preface: bytes | None = b""  # as much as came of it; None once it is HTTP/1.1

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request, which has to come soon."""
        super().connection_made(transport)
        self._awaited_since = self.loop.time()
        subject = subject_of(transport.get_extra_info("peercert"))
        if subject is not None:
            self.app_state = {**self.app_state, CERTIFICATE: subject}
        tls = transport.get_extra_info("ssl_object")
        if tls is not None and tls.selected_alpn_protocol() == "h2":
            self._change_to_http2()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        if self._preface is not None:
            data = self._preface + data
            if len(data) < len(HTTP2_PREFACE) and HTTP2_PREFACE.startswith(data):
                self._preface = data
                self._head_bytes = len(data)
                return
            self._preface = None
            if data.startswith(HTTP2_PREFACE):
                self._change_to_http2(data)
                return
        awaited_before = self._awaited_since
        if awaited_before is None and (self.cycle is None or self.cycle.response_complete):
            self._awaited_since = self.loop.time()
        super().data_received(data)
        if self._awaited_since is not None:
            self._head_bytes += len(data)
            if self._head_bytes > self.max_head_bytes and self.parser is not None:
                self._refuse(b"431 Request Header Fields Too Large", _TOO_LARGE % MAX_HEAD_BYTES)

    def on_headers_complete(self) -> None:
        """Answer the request; how long its body may take is the application's concern."""
        self._awaited_since = None
        self._head_bytes = 0
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request, or for what the last one still sends to nobody."""
        if self.cycle.more_body:
            self._awaited_since = self.loop.time()
        super().on_response_complete()

    def is_overdue(self, now: float) -> bool:
        """Return whether the client has had its time to send a head."""
        since = self._awaited_since
        return since is not None and now - since > self.head_within_s

    def time_out(self) -> None:
        """Tell the client, if it sent anything, and close."""
        if self._head_bytes:
            self._refuse(b"408 Request Timeout", _TIMED_OUT % int(self.head_within_s))
        else:
            self.transport.close()

    def _change_to_http2(self, received: bytes = b"") -> None:
        # Loaded for the first client that wants it: most services never meet one.
        from headwater.http.http2 import Http2Connection

        self.connections.discard(self)
        connection = Http2Connection(self.config, self.server_state, self.app_state, self.loop)
        self.transport.set_protocol(connection)
        connection.connection_made(self.transport)
        if received:
            connection.data_received(received)

    def _refuse(self, status: bytes, message: bytes) -> None:
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete:
            self.transport.write(
                b"HTTP/1.1 %b\r\nContent-Type: text/plain; charset=utf-8\r\n"
                b"Content-Length: %d\r\nConnection: close\r\n\r\n%b"
                % (status, len(message), message)
            )
        self.transport.close()
