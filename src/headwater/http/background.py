"""A server beside a program that has no event loop: in a thread, as long as the process lives."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from headwater.http.listening import listen
from headwater.http.server import Server

if TYPE_CHECKING:
    from headwater.http.asgi import Application

# A server on loopback that does not come up within this time never will.
_STARTED_WITHIN_S = 60.0


def serve_in_background(app: Application, host: str, port: int, name: str) -> int:
    """Serve an application from a thread and return the port; raises ListenError."""
    listening = listen(host, port)
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name=name, daemon=True).start()
    server = Server(app, listening)
    asyncio.run_coroutine_threadsafe(server.start(), loop).result(_STARTED_WITHIN_S)
    return int(listening.getsockname()[1])
