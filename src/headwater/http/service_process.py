"""A service as a process: started, ready, stopped by a signal, and what its exit code says."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

from headwater import __version__
from headwater.http.errors import StartError
from headwater.http.listening import listen, url_of
from headwater.http.server import Server

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from headwater.http.asgi import Application

logger = logging.getLogger("headwater")


class Service(Protocol):
    """What a process runs."""

    title: str  # as in "schema registry listening on ..."

    @property
    def app(self) -> Application:
        """What answers requests."""

    async def start(self) -> None:
        """Be ready for requests; raises StartError."""

    async def stop(self) -> None:
        """Let go of everything; also called where start failed or was cancelled."""

    def summary(self) -> str:
        """Say in a few words what there is, as in "3 subjects"."""


def run(
    build: Callable[[str], Service],
    host: str,
    port: int,
    *,
    tls: Callable[[], ssl.SSLContext | None] = lambda: None,
) -> int:
    """Serve until SIGINT or SIGTERM and return the exit code.

    `build` gets the URL, which has to be known before anybody can be told where this instance is.
    """
    logging.basicConfig(
        level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s"
    )
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    try:
        context = tls()
        with listen(host, port) as listening:
            url = url_of(listening, "http" if context is None else "https", host)
            service = build(url)
            server = Server(service.app, listening, tls=context)
            return _new_loop().run_until_complete(_serve(service, server, url))
    except StartError as failure:
        logger.error("can't start: %s", failure)
    except OSError as failure:
        place = f"{failure.filename}: " if failure.filename else ""
        logger.error("can't start: %s%s", place, failure.strerror or failure)
    return 1


async def _serve(service: Service, server: Server, url: str) -> int:
    started = perf_counter()
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    stopped = asyncio.create_task(stopping.wait())
    try:
        starting = asyncio.create_task(service.start())
        await asyncio.wait({starting, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            starting.cancel()
            return 0
        await starting
        await server.start()
        logger.info(
            "headwater %s %s listening on %s (%s, ready in %.0f ms)",
            __version__, service.title, url, service.summary(), (perf_counter() - started) * 1000,
        )  # fmt: skip
        serving = asyncio.create_task(server.wait())
        await asyncio.wait({serving, stopped}, return_when=asyncio.FIRST_COMPLETED)
        logger.info("stopping")
        await server.stop()
        await serving
    finally:
        stopped.cancel()
        await service.stop()
    logger.info("stopped")
    return 0


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
