"""The server: takes requests from a socket to an application, and ends without losing any."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

import uvicorn

from headwater.http.connection import Http1Connection
from headwater.http.listening import listen_error
from headwater.http.streaming import STOPPING

if TYPE_CHECKING:
    import socket
    import ssl
    from collections.abc import Iterator

    from uvicorn._types import ASGIApplication

    from headwater.http.asgi import Application

# How long whoever keeps a connection has to close it, once all answers are on their way.
HANG_UP_S = 0.2

# How long an answer may still take once the server stops.
FINISH_WITHIN_S = 10

# Of what a client says by a WebSocket; a browser of a console says little, and others nothing.
MAX_MESSAGE_BYTES = 4 * 1024 * 1024

_TICKS_PER_S = 10  # of uvicorn's main loop


class Server:
    """Serves an application on a socket, in the event loop that starts it."""

    def __init__(
        self, app: Application, listening: socket.socket, *, tls: ssl.SSLContext | None = None
    ) -> None:
        self._listening = listening
        # One that has pages beside its routes: these are served from start to end, and ask back.
        has_pages = getattr(app, "has_lifespan", False)
        self._uvicorn = _Uvicorn(
            uvicorn.Config(
                cast("ASGIApplication", app),
                http=Http1Connection,
                log_config=None,
                access_log=False,
                lifespan="on" if has_pages else "off",
                ws="auto" if getattr(app, "has_sockets", False) else "none",
                ws_max_size=MAX_MESSAGE_BYTES,
                server_header=False,
                timeout_graceful_shutdown=FINISH_WITHIN_S,
                ssl_context_factory=None if tls is None else lambda config, default: tls,
            )
        )
        self._serving: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Serve from now on; raises ListenError."""
        serving = self._serving = asyncio.create_task(self._uvicorn.serve([self._listening]))
        started = asyncio.create_task(self._uvicorn.is_started.wait())
        await asyncio.wait({serving, started}, return_when=asyncio.FIRST_COMPLETED)
        started.cancel()
        if serving.done():
            try:
                serving.result()
            except OSError as failure:
                host, port = self._listening.getsockname()[:2]
                raise listen_error(host, port, failure) from None

    async def wait(self) -> None:
        """Wait until it ends; raises what it ends with."""
        if self._serving is not None:
            await asyncio.shield(self._serving)

    async def stop(self) -> None:
        """Take no more requests, answer those that came, and close all connections."""
        if self._serving is not None:
            self._uvicorn.should_exit = True
            await self._serving


@runtime_checkable
class Overdue(Protocol):
    """A connection whose client can have had its time; a WebSocket's sees to that itself."""

    def is_overdue(self, now: float) -> bool:
        """Return whether that is so."""

    def time_out(self) -> None:
        """Close it."""


class _Uvicorn(uvicorn.Server):
    """uvicorn, without its own ideas about signals."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_started = asyncio.Event()
        self._is_stopping = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen, and say so."""
        self.lifespan.state[STOPPING] = self._is_stopping
        await super().startup(sockets)
        self.is_started.set()

    async def on_tick(self, counter: int) -> bool:
        """Once a second, close the connections whose clients have had their time."""
        if counter % _TICKS_PER_S == 0:
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                if isinstance(connection, Overdue) and connection.is_overdue(now):
                    connection.time_out()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer what was asked, and wait for nobody who only keeps a connection."""
        self._is_stopping.set()
        hanging_up = asyncio.create_task(self._hang_up())
        try:
            await super().shutdown(sockets)
        finally:
            hanging_up.cancel()

    async def _hang_up(self) -> None:
        # Closing a TLS connection waits for the other side, which may be asleep in a client's pool.
        while True:
            await asyncio.sleep(HANG_UP_S)
            for connection in list(self.server_state.connections):
                transport = connection.transport
                if transport.is_closing() and not transport.get_write_buffer_size():
                    transport.abort()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the caller."""
        yield
