"""Hands out producer ids, each only once, however often the broker is killed.

Ids are set aside on disk in blocks before any of them is used. What a crash leaves unused of a
block is never used at all.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from headwater.log.disk import storage_error, write_atomically
from headwater.log.errors import LogError
from headwater.log.rate_limited_logger import RateLimitedLogger
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

logger = logging.getLogger("headwater.broker")
_failures = RateLimitedLogger(logger)

FILE_NAME = "headwater.producer-ids"
BLOCK_SIZE = 1000
REPAIR_MARGIN = 1_000_000
"""Ids that are left out when the file is damaged."""


class ProducerIds:
    """The producer ids of one data directory."""

    def __init__(self, directory: Path, first_unused: Callable[[], int]) -> None:
        self._path = directory / FILE_NAME
        self._first_unused = first_unused
        """Says from the logs which ids nobody has; counts where there is no file yet."""
        self._is_checked = False
        self._next = 0
        self._end = 0
        self._reserved: tuple[int, int] | None = None
        self._reserving: asyncio.Task[None] | None = None

    async def allocate(self) -> int:
        """Return an id that was never returned before; raises KafkaError if the disk refuses."""
        while self._next == self._end:
            if self._reserved is not None:
                (self._next, self._end), self._reserved = self._reserved, None
            else:
                await asyncio.shield(self._start_reserving())
        producer_id = self._next
        self._next += 1
        if self._reserved is None and self._end - self._next < BLOCK_SIZE // 2:
            self._start_reserving()
        return producer_id

    async def close(self) -> None:
        """Wait for a block that is being set aside."""
        if self._reserving is not None:
            await asyncio.wait([self._reserving])

    def _start_reserving(self) -> asyncio.Task[None]:
        if self._reserving is None:
            self._reserving = asyncio.create_task(self._reserve())
            self._reserving.add_done_callback(_log_failure)
        return self._reserving

    async def _reserve(self) -> None:
        try:
            block = await asyncio.get_running_loop().run_in_executor(None, self._reserve_on_disk)
            self._reserved = block
        except LogError as error:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, str(error)) from error
        finally:
            self._reserving = None

    def _reserve_on_disk(self) -> tuple[int, int]:
        try:
            start = self._read()
        except FileNotFoundError:
            start = self._first_unused()
        except OSError as error:
            raise storage_error(error, "Reading the producer ids") from error
        end = start + BLOCK_SIZE
        try:
            write_atomically(self._path, f"{end}\n".encode())
        except OSError as error:
            raise storage_error(error, "Reserving producer ids") from error
        return start, end

    def _read(self) -> int:
        """Return where the next block begins; what cannot be is replaced with what is safe."""
        text = self._path.read_bytes()
        start = int(text) if text.strip().isdigit() else -1
        if start >= 0 and self._is_checked:
            return start
        try:
            used = self._first_unused()
        except KafkaError:
            if start >= 0:
                return start  # The logs are still being read; a later block is compared with them.
            raise
        self._is_checked = True
        if start >= used:
            return start
        # The logs do not know of ids that were handed out and not yet written with.
        repaired = used + REPAIR_MARGIN
        logger.error(
            "%s is damaged: it holds %r, and the logs have ids up to %d. Producer ids go on at %d,"
            " far above all that can have been handed out; nothing has to be done.",
            self._path, text[:40], used - 1, repaired,
        )  # fmt: skip
        return repaired


def _log_failure(task: asyncio.Task[None]) -> None:
    error = None if task.cancelled() else task.exception()
    if error is not None:
        _failures.error("reserving", "can't give out producer ids: %s", error)
