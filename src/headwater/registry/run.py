"""The registry as a process: sockets, signals, and the line that says it is ready."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

import uvicorn

from headwater import __version__
from headwater.registry.http.auth import BasicAuth, UsersError
from headwater.registry.http.tls import TlsFileError, check_files
from headwater.registry.instance import Instance
from headwater.registry.topic import TopicError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.registry.config import RegistryConfig

logger = logging.getLogger("headwater.registry")

# How long whoever keeps a connection has to close it, once all answers are on their way.
HANG_UP_S = 0.2


def run(config: RegistryConfig) -> int:
    """Serve until SIGINT or SIGTERM and return the exit code."""
    logging.basicConfig(
        level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s"
    )
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    try:
        check_files(config.certificate_file, config.key_file, config.ca_file)
        auth = None if config.users_file is None else BasicAuth.from_file(config.users_file)
        listening = _listen(config)
        with listening:
            return _new_loop().run_until_complete(_serve(config, auth, listening))
    except (TopicError, UsersError) as failure:
        logger.error("%s", failure)
    except OSError as failure:
        place = f"{failure.filename}: " if failure.filename else ""
        logger.error("can't start: %s%s", place, failure.strerror or failure)
    except TlsFileError as failure:
        logger.error("can't start: %s", failure)
    return 1


async def _serve(config: RegistryConfig, auth: BasicAuth | None, listening: socket.socket) -> int:
    started = perf_counter()
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    url = _url(config, listening)
    instance = Instance(config, config.advertised_url or url, auth)
    server = _Server(
        uvicorn.Config(
            instance.app,
            http="h11",
            log_config=None,
            access_log=False,
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=10,
            ssl_certfile=config.certificate_file,
            ssl_keyfile=config.key_file,
        )
    )
    stopped = asyncio.create_task(stopping.wait())
    try:
        starting = asyncio.create_task(instance.start())
        await asyncio.wait({starting, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            starting.cancel()
            return 0
        await starting
        serving = asyncio.create_task(server.serve([listening]))
        listens = asyncio.create_task(server.is_started.wait())
        await asyncio.wait({serving, listens, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if listens.done():
            logger.info(
                "headwater %s schema registry listening on %s (%d subjects, ready in %.0f ms)",
                __version__, url, len(instance.store.subjects), (perf_counter() - started) * 1000,
            )  # fmt: skip
        listens.cancel()
        await asyncio.wait({serving, stopped}, return_when=asyncio.FIRST_COMPLETED)
        logger.info("stopping")
        server.should_exit = True
        await serving
    finally:
        stopped.cancel()
        await instance.stop()
    logger.info("stopped")
    return 0


class _Server(uvicorn.Server):
    """uvicorn, without its own ideas about signals."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_started = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen, and say so."""
        await super().startup(sockets)
        self.is_started.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer what was asked, and wait for nobody who only keeps a connection."""
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


def _listen(config: RegistryConfig) -> socket.socket:
    # Bound here, as the port has to be known before anybody can be told where the leader is.
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((config.host, config.port))
    except OSError:
        listening.close()
        raise
    return listening


def _url(config: RegistryConfig, listening: socket.socket) -> str:
    host = config.host
    if host in ("0.0.0.0", "::", ""):
        host = socket.gethostname()
    port = listening.getsockname()[1]
    return f"{config.scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
