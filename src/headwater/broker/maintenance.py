"""What the broker does on the side: retention, compaction, checkpoints, idle connections.

Everything that touches the disk runs in threads of its own, so that the event loop never waits.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import time_ns
from typing import TYPE_CHECKING

from headwater.broker.metadata.metadata_store import TokenRecord
from headwater.log.compaction.cleaner import LogCleaner
from headwater.log.errors import LogError
from headwater.log.rate_limited_logger import RateLimitedLogger

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.broker.broker import Broker

logger = logging.getLogger("headwater.broker")
_failures = RateLimitedLogger(logger)

_IDLE_CHECK_S = 15.0
_DAY_MS = 86_400_000
_MOST_FLUSH_INTERVAL_MS = 1000
"""Kafka looks for flushes that are due never by default, so that `flush.ms` alone does nothing."""


class Maintenance:
    """Runs the periodic work of one broker until it is stopped."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._tasks: list[asyncio.Task[None]] = []
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="headwater-maintenance")
        self._cleaner: LogCleaner | None = None

    def start(self) -> None:
        """Begin the periodic work."""
        config, logs = self._broker.config, self._broker.logs
        self._every("log.retention.check.interval.ms", lambda: logs.apply_retention(_now_ms()))
        self._every("log.flush.offset.checkpoint.interval.ms", logs.checkpoint)
        if not self._broker.fsync:
            self._every(
                "log.flush.scheduler.interval.ms",
                lambda: logs.flush_due(_now_ms()),
                most_ms=_MOST_FLUSH_INTERVAL_MS,
            )
        if config.boolean("log.cleaner.enable"):
            cleaner = self._cleaner = LogCleaner(logs, config.cleaner())
            config.on_change(lambda: cleaner.reconfigure(config.cleaner()))
            self._broker.topics.forgetters.append(cleaner.forget)
            self._every("log.cleaner.backoff.ms", lambda: _clean_all(cleaner))
        self._tasks.append(asyncio.create_task(self._close_idle()))
        if self._broker.delegation_tokens.is_enabled:
            self._tasks.append(asyncio.create_task(self._forget_tokens()))
        if any(listener.security.tls is not None for listener in self._broker.listeners):
            self._every("headwater.certificates.check.interval.ms", self._look_after_certificates)

    async def stop(self) -> None:
        """End the periodic work; a compaction under way is given up, which loses nothing."""
        for task in self._tasks:
            task.cancel()
        if self._cleaner is not None:
            self._cleaner.stop()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, partial(self._threads.shutdown, cancel_futures=True))

    def _every(
        self, interval_setting: str, work: Callable[[], object], most_ms: int = _DAY_MS
    ) -> None:
        self._tasks.append(asyncio.create_task(self._repeat(interval_setting, work, most_ms)))

    async def _repeat(
        self, interval_setting: str, work: Callable[[], object], most_ms: int
    ) -> None:
        loop = asyncio.get_running_loop()
        while True:
            # Asked each time, because some of these can be changed while the broker runs.
            interval_ms = self._broker.config.integer(interval_setting)
            await asyncio.sleep(min(interval_ms, most_ms) / 1000)
            try:
                await loop.run_in_executor(self._threads, work)
            # One failed round must not end all later ones.
            except LogError as error:
                _failures.error((interval_setting, str(error)), "%s It is tried again.", error)
            except Exception:
                logger.exception("background work failed (%s); trying again", interval_setting)

    async def _close_idle(self) -> None:
        max_idle_s = self._broker.config.integer("connections.max.idle.ms") / 1000
        if max_idle_s < 0:
            return
        while True:
            await asyncio.sleep(min(_IDLE_CHECK_S, max(max_idle_s / 4, 0.05)))
            for listener in self._broker.listeners:
                listener.close_idle(max_idle_s)

    async def _forget_tokens(self) -> None:
        broker = self._broker

        async def forget() -> None:
            gone = broker.delegation_tokens.expired(_now_ms())
            if gone:
                await broker.topics.store_credentials(
                    [TokenRecord(token, exists=False) for token in gone]
                )

        interval_ms = broker.config.integer("delegation.token.expiry.check.interval.ms")
        while True:
            await asyncio.sleep(min(interval_ms, _DAY_MS) / 1000)
            try:
                await broker.topics.changes.run(forget)
            except LogError as error:
                logger.error("expired delegation tokens could not be cleared away: %s", error)

    def _look_after_certificates(self) -> None:
        for listener in self._broker.listeners:
            if listener.security.tls is not None:
                listener.security.tls.look_after()


def _clean_all(cleaner: LogCleaner) -> None:
    while cleaner.run_once(_now_ms()):
        pass


def _now_ms() -> int:
    return time_ns() // 1_000_000
