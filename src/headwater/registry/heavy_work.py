"""What takes its time with large schemas is done in threads, and not by all who ask at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")

# Larger schemas are parsed and compared in a thread, so that others are answered meanwhile. Work
# grows faster than size where parts are used many times.
INLINE_BYTES = 2_000

# They hold the interpreter's lock, so that more of them at once would not be done any sooner. Each
# may take some hundred megabytes until it is refused as too much work.
AT_ONCE = 2


class HeavyWork:
    """Parses and compares off the event loop, for two requests at a time; the others wait."""

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(AT_ONCE)

    async def run(self, size: int, work: Callable[[], Result]) -> Result:
        """Do work on schemas of so many bytes, at once if they are small."""
        if size <= INLINE_BYTES:
            return work()
        async with self._room:
            return await asyncio.to_thread(work)
