"""Services as a process: started, ready, stopped by a signal, and what its exit code says."""

from __future__ import annotations

import asyncio
import logging
import signal
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, Protocol

from headwater import __version__
from headwater.http.errors import StartError
from headwater.http.listening import listen, url_of
from headwater.http.server import Server
from headwater.logs.lines import start_logging

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator, Sequence

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


@dataclass(frozen=True)
class Place:
    """Where one of a process's services listens, and what makes it.

    `build` gets the URL, which has to be known before anybody can be told where this instance is.
    `name` is said with what is in the way of its start, where there are several.
    """

    build: Callable[[str], Service]
    host: str
    port: int
    tls: Callable[[], ssl.SSLContext | None] = lambda: None
    name: str = ""


def run(
    build: Callable[[str], Service],
    host: str,
    port: int,
    *,
    tls: Callable[[], ssl.SSLContext | None] = lambda: None,
) -> int:
    """Serve until SIGINT or SIGTERM and return the exit code; see Place."""
    return run_together([Place(build, host, port, tls)])


def run_together(places: Sequence[Place]) -> int:
    """Serve until SIGINT or SIGTERM and return the exit code; if one cannot start, none does."""
    start_logging()
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    try:
        with ExitStack() as sockets:
            running = [_open(place, sockets) for place in places]
            return _new_loop().run_until_complete(_serve(running))
    except StartError as failure:
        logger.error("can't start: %s", failure)
    return 1


class _Running(NamedTuple):
    """A service of this process, with its server."""

    name: str
    service: Service
    server: Server
    url: str


def _open(place: Place, sockets: ExitStack) -> _Running:
    with _named(place.name):
        context = place.tls()
        listening = sockets.enter_context(listen(place.host, place.port))
        url = url_of(listening, "http" if context is None else "https", place.host)
        service = place.build(url)
        return _Running(place.name, service, Server(service.app, listening, tls=context), url)


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Say which service cannot start, and why."""
    try:
        yield
    except StartError as failure:
        reason = str(failure)
    except OSError as failure:
        place = f"{failure.filename}: " if failure.filename else ""
        reason = f"{place}{failure.strerror or failure}"
    else:
        return
    raise StartError(f"{name}: {reason}" if name else reason)


async def _serve(running: Sequence[_Running]) -> int:
    started = perf_counter()
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    stopped = asyncio.create_task(stopping.wait())
    async with AsyncExitStack() as begun:
        begun.callback(stopped.cancel)
        starting = asyncio.create_task(_start(running, begun))
        await asyncio.wait({starting, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            starting.cancel()
            return 0
        await starting
        for each in running:
            with _named(each.name):
                await each.server.start()
            logger.info(
                "headwater %s %s listening on %s (%s, ready in %.0f ms)",
                __version__, each.service.title, each.url, each.service.summary(),
                (perf_counter() - started) * 1000,
            )  # fmt: skip
        serving = [asyncio.create_task(each.server.wait()) for each in running]
        await asyncio.wait({*serving, stopped}, return_when=asyncio.FIRST_COMPLETED)
        logger.info("stopping")
        await asyncio.gather(*(each.server.stop() for each in running))
        await asyncio.gather(*serving)
    logger.info("stopped")
    return 0


async def _start(running: Sequence[_Running], begun: AsyncExitStack) -> None:
    for each in running:
        begun.push_async_callback(each.service.stop)
        with _named(each.name):
            await each.service.start()


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
