"""The broker as a process: event loop, signals, limits and the line that says it is ready."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import threading
from time import perf_counter
from typing import TYPE_CHECKING

from headwater import __version__
from headwater.broker.broker import Broker
from headwater.broker.event_loop import new_event_loop
from headwater.broker.metadata.directory_lock import DirectoryInUse
from headwater.broker.metadata.meta_properties import WrongDirectoryError
from headwater.broker.metadata.metadata_store import MetadataCorruptError
from headwater.config import ConfigError
from headwater.log.checkpoint import CorruptCheckpoint
from headwater.log.errors import LogError
from headwater.logs.lines import start_logging

if TYPE_CHECKING:
    from headwater.broker.config import BrokerConfig

logger = logging.getLogger("headwater.broker")


def run(config: BrokerConfig) -> int:
    """Serve until SIGINT or SIGTERM and return the exit code."""
    start_logging()
    for notice in config.notices:
        logger.warning("%s", notice)
    _raise_open_file_limit()
    try:
        return new_event_loop().run_until_complete(_serve(config))
    except (
        ConfigError, CorruptCheckpoint, DirectoryInUse, LogError, MetadataCorruptError,
        WrongDirectoryError,
    ) as error:  # fmt: skip
        logger.error("%s", error)
    except OSError as error:
        logger.error("can't start: %s", error)
    return 1


async def _serve(config: BrokerConfig) -> int:
    started = perf_counter()
    broker = Broker(config)
    # What a start makes is there to stay: the garbage collector never looks through it. With many
    # partitions each of its full passes would take a good part of a second.
    gc.disable()
    await broker.start()
    gc.freeze()
    gc.enable()
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    for listener in broker.listeners:
        logger.info(
            "headwater broker %s listening on %s:%s (%s), data in %s, flush=%s, ready in %.0f ms",
            __version__, *listener.address, listener.name, config.data_dir, config.flush,
            (perf_counter() - started) * 1000,
        )  # fmt: skip
    if broker.metrics_address is not None:
        logger.info("metrics at http://%s:%s/metrics", *broker.metrics_address)
    threading.Thread(target=_warm_up, name="headwater-warm-up", daemon=True).start()
    await stop.wait()
    logger.info("stopping")
    await broker.stop()
    logger.info("stopped")
    return 0


def _warm_up() -> None:
    # kio takes a fifth of a second to import. Done now, the first admin request is quick.
    from headwater.protocol import messages

    messages.preload()
    # What was imported stays for good. Without it, the garbage collector's full passes take 15 ms
    # instead of 40, and every client feels them.
    gc.collect()
    gc.freeze()


def _raise_open_file_limit() -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
