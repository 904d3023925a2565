"""Connections that their clients have reset, where the event loop does not say so.

A connection that is not read for the time being is not watched either. And of one that is, libuv
tells a reset only once: where there are bytes in front of it, reading these was all that came of
it. The kernel is asked without reading.
"""

from __future__ import annotations

import logging
import select
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Collection

    from headwater.broker.network.connection import Connection

logger = logging.getLogger("headwater.broker")

EVERY_S = 5.0
"""How often all connections are looked at; the second time closes those that are dead."""
_DEAD = select.POLLERR | select.POLLHUP
"""A client that only says no more (POLLRDHUP) still waits for its answers."""


class Resets:
    """Looks at the connections of one listener again and again."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        connections: Collection[Connection],
        every_s: float = EVERY_S,
    ) -> None:
        self._loop = loop
        self._connections = connections
        self._every_s = every_s
        self._suspects: set[Connection] = set()
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to look."""
        if self._timer is None:
            self._timer = self._loop.call_later(self._every_s, self._on_time)

    def stop(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def look(self) -> None:
        """Close the connections that are dead now and were so when it was looked last."""
        by_fd = {connection.fd: connection for connection in self._connections}
        poll = select.poll()
        for fd in by_fd:
            poll.register(fd, 0)
        # Not at once: who is read has the bytes before the reset read first.
        dead = {by_fd[fd] for fd, events in poll.poll(0) if events & _DEAD}
        for connection in dead & self._suspects:
            logger.debug("connection from %s lost: it was reset", connection.session)
            connection.close()
        self._suspects = dead - self._suspects

    def _on_time(self) -> None:
        self._timer = None
        self.look()
        self.start()
