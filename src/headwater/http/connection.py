"""A connection: HTTP/1.1 is uvicorn's, with an end to everybody's patience; HTTP/2 is `http2`'s.

uvicorn closes connections on which nothing was asked for a while, and has no limit for those on
which a request was begun: a client that sends a byte now and then would stay for ever. Here
`is_overdue` tells the server which connections to close; it looks once a second, so that a request
costs no timer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from headwater.http.authentication import CERTIFICATE
from headwater.security.subjects import subject_of

if TYPE_CHECKING:
    import asyncio

# With this, clients begin that speak HTTP/2 without having asked.
HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

# Jetty's idle time-out, which is Confluent's, is as long.
HEAD_WITHIN_S = 30.0

# A line of that length is no address, and a megabyte of headers no request.
MAX_HEAD_BYTES = 64 * 1024

_END_OF_HEAD = re.compile(rb"\n\r?\n")
_OFFER = re.compile(rb"\n(upgrade:[ \t]*h2c)", re.IGNORECASE)
_TIMED_OUT = b"The request did not come within %d s\n"
_TOO_LARGE = b"The request's head is larger than %d bytes\n"


class Http1Connection(HttpToolsProtocol):
    """One client, and the request that it is about to send."""

    head_within_s = HEAD_WITHIN_S
    max_head_bytes = MAX_HEAD_BYTES

    def __init__(self, *positional: Any, **named: Any) -> None:
        super().__init__(*positional, **named)
        # Since when a head is awaited; None while a request is being answered.
        self._awaited_since: float | None = None
        self._head = b""  # as much as came of it
        self._is_between_requests = True
        self._is_first = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request, which has to come soon."""
        super().connection_made(transport)
        self._awaited_since = self.loop.time()
        tls = transport.get_extra_info("ssl_object")
        shown = None if tls is None else tls.getpeercert(binary_form=True)
        if shown is not None:
            self.app_state = {**self.app_state, CERTIFICATE: subject_of(shown)}
        if tls is not None and tls.selected_alpn_protocol() == "h2":
            self._change_to_http2()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        if self._awaited_since is None and (self.cycle is None or self.cycle.response_complete):
            self._awaited_since = self.loop.time()
        if not self._is_between_requests:
            super().data_received(data)
            return
        head = self._head + data
        if self._is_first and head.startswith(HTTP2_PREFACE):
            self._change_to_http2(head)
            return
        is_preface = self._is_first and HTTP2_PREFACE.startswith(head)
        end = _END_OF_HEAD.search(head, max(0, len(self._head) - 2))
        # What does not begin with a method is for the parser to refuse.
        if not is_preface and (end is not None or not head[:1].isalpha()):
            self._head = b""
            self._is_first = False
            super().data_received(head if end is None else _without_offer(head, end.start()))
            return
        self._head = head
        self._unset_keepalive_if_required()
        if len(head) > self.max_head_bytes:
            self._refuse(b"431 Request Header Fields Too Large", _TOO_LARGE % self.max_head_bytes)

    def on_headers_complete(self) -> None:
        """Answer the request; how long its body may take is the application's concern."""
        self._awaited_since = None
        self._is_between_requests = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Have all of a request, so that the next one can come."""
        self._is_between_requests = True
        super().on_message_complete()

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
        if self._head:
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


def _without_offer(request: bytes, end: int) -> bytes:
    """Return a request without its offer to go on in HTTP/2.

    Java's client makes it on every new connection. It may be left alone, but the parser takes it
    for accepted, and a body that comes with it for frames.
    """
    found = _OFFER.search(request, 0, end)
    return (
        request if found is None else request[: found.start(1)] + b"x-" + request[found.start(1) :]
    )
