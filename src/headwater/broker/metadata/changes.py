"""Runs changes of the metadata one after the other, each to its end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

T = TypeVar("T")


class Changes:
    """A queue for whoever changes topics or settings.

    A change may take several steps, and a client may hang up between them. Its request is
    cancelled then; the change is not, because the journal and the memory would disagree.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._running: set[asyncio.Task[object]] = set()

    async def run(self, change: Callable[[], Coroutine[object, object, T]]) -> T:
        """Wait for the changes before, make this one and return its result."""
        task = asyncio.create_task(self._alone(change))
        self._running.add(task)
        task.add_done_callback(self._finished)
        return await asyncio.shield(task)

    async def drain(self) -> None:
        """Wait until no change is under way."""
        while self._running:
            await asyncio.wait(self._running)

    def _finished(self, task: asyncio.Task[object]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            # Whoever asked is told, unless they have hung up; then nobody else would look.
            task.exception()

    async def _alone(self, change: Callable[[], Coroutine[object, object, T]]) -> T:
        async with self._lock:
            return await change()
