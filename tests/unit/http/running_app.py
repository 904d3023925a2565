"""An application of `headwater.http` behind its real server, on a free port of loopback."""

from __future__ import annotations

import asyncio
import http.client
import threading
from typing import TYPE_CHECKING, Any

from headwater.http.app import App, call_handler
from headwater.http.interface import Interface
from headwater.http.listening import listen
from headwater.http.metrics import RequestMetrics
from headwater.http.server import Server

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from headwater.http.asgi import Application
    from headwater.http.routes import Route

HUNG_AFTER_S = 60.0


def app_of(*routes: Route, service: object = None, **settings: Any) -> App[Route]:
    """Return an application with these routes."""
    return App(
        Interface("Test", routes),
        call_handler(service),
        RequestMetrics("test"),
        **settings,
    )


class RunningApp:
    """Serves an application from a thread with an event loop of its own."""

    def __init__(self, app: Application, **settings: Any) -> None:
        self._listening = listen("127.0.0.1", 0)
        self.port = self._listening.getsockname()[1]
        self.server = Server(app, self._listening, **settings)
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)

    def __enter__(self) -> RunningApp:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self.server.start(), self.loop).result(HUNG_AFTER_S)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self.server.stop(), self.loop).result(HUNG_AFTER_S)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()
        self._listening.close()

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection that the caller closes."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=HUNG_AFTER_S)

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, bytes, http.client.HTTPMessage]:
        """Return the answer to a request: its status, body and headers."""
        connection = self.connect()
        try:
            connection.request(method, path, body, dict(headers or {}))
            response = connection.getresponse()
            return response.status, response.read(), response.headers
        finally:
            connection.close()
