"""Connections whose clients have not proved who they are yet: how long that may take.

A handshake that goes on for ever costs its client nothing and the broker memory, 45 KB for one that
TLS has begun. So there is a time limit, and a crowd makes the slow ones leave earlier.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

    from headwater.broker.network.connection import Connection

CROWD = 1000
"""Newcomers after which those leave that have been there for longer than PATIENCE_S."""
PATIENCE_S = 2.0
_LOOK_EVERY_S = 1.0


class Newcomers:
    """The newcomers of one listener, in the order in which they came."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, timeout_s: float, *, must_log_in: bool
    ) -> None:
        self._loop = loop
        self._timeout_s = timeout_s
        self._must_log_in = must_log_in
        self._since: dict[Connection, float] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._full = CROWD

    def add(self, connection: Connection) -> None:
        """Give a connection its time."""
        self._since[connection] = monotonic()
        if len(self._since) > self._full:
            self._look()
        if self._timer is None:
            self._timer = self._loop.call_later(_LOOK_EVERY_S, self._on_time)

    def discard(self, connection: Connection) -> None:
        """Forget a connection that was closed."""
        self._since.pop(connection, None)

    def stop(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _on_time(self) -> None:
        self._timer = None
        self._look()
        if self._since:
            self._timer = self._loop.call_later(_LOOK_EVERY_S, self._on_time)

    def _look(self) -> None:
        """Forget whom was let in, and close those that have taken too long."""
        for connection in [c for c in self._since if self._is_let_in(c)]:
            del self._since[connection]
        now = monotonic()
        for connection, since in list(self._since.items()):
            waited = now - since
            if waited > self._timeout_s:
                connection.close(
                    "it took too long to say who it is (headwater.authentication.timeout.ms)",
                    kind="newcomer",
                )
            elif len(self._since) > CROWD and waited > PATIENCE_S:
                connection.close(
                    f"it did not say who it is, and more than {CROWD} others wait as well",
                    kind="newcomer",
                )
            else:
                break
        # Looking through all of them costs time, so not for each one more.
        self._full = max(CROWD, len(self._since) + CROWD // 10)

    def _is_let_in(self, connection: Connection) -> bool:
        return connection.is_established and (
            not self._must_log_in or connection.session.authentication.mechanism is not None
        )
