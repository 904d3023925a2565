"""A connection of HTTP/2, with TLS or without: some clients of streaming SQL speak nothing else.

The protocol is `h2`'s; here are the streams of a connection, each of them a request. What a client
does not read is not produced: a chunk waits until the stream's window has room for it.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

from h2 import events
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.exceptions import ProtocolError, StreamClosedError
from h2.settings import SettingCodes

from headwater.http.http2_stream import Http2Stream

if TYPE_CHECKING:
    from uvicorn.config import Config
    from uvicorn.server import ServerState

    from headwater.http.asgi import Application, Scope

logger = logging.getLogger("headwater.http")

MAX_STREAMS = 100
IDLE_WITHIN_S = 30.0


class Http2Connection(asyncio.Protocol):
    """One client and its requests."""

    idle_within_s = IDLE_WITHIN_S

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.transport: asyncio.Transport = cast("asyncio.Transport", None)
        self._app = cast("Application", config.loaded_app)
        self._server_state = server_state
        self._app_state = app_state
        self._loop = loop
        settings = H2Configuration(client_side=False, header_encoding=None)
        self._h2 = H2Connection(config=settings)
        self._streams: dict[int, Http2Stream] = {}
        self._writable = asyncio.Event()
        self._writable.set()
        self._idle_since = loop.time()
        self._is_stopping = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin with the server's settings."""
        self.transport = cast("asyncio.Transport", transport)
        self._connections.add(self)
        self._h2.initiate_connection()
        self._h2.update_settings({SettingCodes.MAX_CONCURRENT_STREAMS: MAX_STREAMS})
        self.flush()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell all requests that their client left."""
        self._connections.discard(self)
        self._writable.set()
        for stream in self._streams.values():
            stream.leave()

    def data_received(self, data: bytes) -> None:
        """Take frames."""
        try:
            for event in self._h2.receive_data(data):
                self._take(event)
        except ProtocolError as failure:
            logger.debug("a client does not speak HTTP/2: %s", failure)
            self.flush()
            self.transport.close()
            return
        self.flush()

    def pause_writing(self) -> None:
        """Produce nothing while the client's socket is full."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Go on."""
        self._writable.set()

    def shutdown(self) -> None:
        """Take no more requests, and close when those that came are answered."""
        self._is_stopping = True
        if not self._streams:
            self._close()

    def is_overdue(self, now: float) -> bool:
        """Return whether the client has asked for nothing for too long."""
        return not self._streams and now - self._idle_since > self.idle_within_s

    def time_out(self) -> None:
        """Say good-bye and close."""
        self._close()

    def flush(self) -> None:
        """Send what is due."""
        data = self._h2.data_to_send()
        if data and not self.transport.is_closing():
            self.transport.write(data)

    async def drain(self) -> None:
        """Wait while the client's socket is full."""
        await self._writable.wait()

    def _take(self, event: events.Event) -> None:
        if isinstance(event, events.RequestReceived):
            self._begin(event)
        elif isinstance(event, events.DataReceived):
            stream = self._streams.get(event.stream_id)
            if stream is not None:
                stream.take(event.data, event.flow_controlled_length)
            else:
                self._h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, events.StreamEnded):
            if (stream := self._streams.get(event.stream_id)) is not None:
                stream.end()
        elif isinstance(event, events.StreamReset):
            if (stream := self._streams.get(event.stream_id)) is not None:
                stream.leave()
        elif isinstance(event, events.WindowUpdated | events.RemoteSettingsChanged):
            for stream in self._streams.values():
                stream.window.set()
        elif isinstance(event, events.ConnectionTerminated):
            self.transport.close()

    def _begin(self, event: events.RequestReceived) -> None:
        if self._is_stopping or len(self._streams) >= MAX_STREAMS:
            # A client may open streams and reset them at once: what they began still goes on.
            with suppress(StreamClosedError):
                self._h2.reset_stream(event.stream_id, ErrorCodes.REFUSED_STREAM)
            return
        stream = Http2Stream(self._h2, event.stream_id, self.flush, self.drain)
        self._streams[event.stream_id] = stream
        task = self._loop.create_task(self._run(stream, self._scope(event)))
        self._server_state.tasks.add(task)
        task.add_done_callback(self._server_state.tasks.discard)

    async def _run(self, stream: Http2Stream, scope: Scope) -> None:
        try:
            await self._app(scope, stream.receive, stream.send)
            stream.finish(ErrorCodes.INTERNAL_ERROR)
        except Exception:
            logger.exception("%s %s failed", scope["method"], scope["path"])
            stream.finish(ErrorCodes.INTERNAL_ERROR)
        except asyncio.CancelledError:
            stream.finish(ErrorCodes.CANCEL)
            raise
        finally:
            self._server_state.total_requests += 1
            del self._streams[stream.id]
            self._idle_since = self._loop.time()
            self.flush()
            if self._is_stopping and not self._streams:
                self._close()

    def _scope(self, event: events.RequestReceived) -> Scope:
        pseudo: dict[bytes, bytes] = {}
        headers: list[tuple[bytes, bytes]] = []
        for name, value in event.headers:
            if name.startswith(b":"):
                pseudo[name] = value
            else:
                headers.append((name, value))
        if b":authority" in pseudo:
            headers.append((b"host", pseudo[b":authority"]))
        path, _, query = pseudo.get(b":path", b"/").partition(b"?")
        is_tls = self.transport.get_extra_info("sslcontext") is not None
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "2",
            "method": pseudo.get(b":method", b"GET").decode("ascii", "replace"),
            "scheme": "https" if is_tls else "http",
            "path": unquote(path.decode("latin-1")),
            "raw_path": path,
            "query_string": query,
            "root_path": "",
            "headers": headers,
            "client": self.transport.get_extra_info("peername")[:2],
            "server": self.transport.get_extra_info("sockname")[:2],
            "state": self._app_state.copy(),
        }

    def _close(self) -> None:
        self._h2.close_connection()
        self.flush()
        self.transport.close()

    @property
    def _connections(self) -> set[Any]:
        return cast("set[Any]", self._server_state.connections)
