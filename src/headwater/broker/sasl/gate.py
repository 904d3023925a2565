"""In front of a listener's requests: lets those through whose client has logged in."""

from __future__ import annotations

from time import time
from typing import TYPE_CHECKING

from headwater.broker.sasl.login import Login, State
from headwater.protocol.api_keys import ApiKey

if TYPE_CHECKING:
    import asyncio

    from headwater.broker.audit.audit_log import AuditLog
    from headwater.broker.network.authentication_counts import AuthenticationCounts
    from headwater.broker.network.connection import Connection, FrameHandler
    from headwater.broker.requests.reply import Reply
    from headwater.broker.sasl.listener_sasl import ListenerSasl

_HANDSHAKE = int(ApiKey.SASL_HANDSHAKE).to_bytes(2, "big")


class SaslGate:
    """Handles the frames of a listener with SASL, and hands on what is not about logging in."""

    def __init__(
        self,
        sasl: ListenerSasl,
        counts: AuthenticationCounts,
        loop: asyncio.AbstractEventLoop,
        handle: FrameHandler,
        max_frame: int,
        audit: AuditLog | None = None,
    ) -> None:
        self._sasl = sasl
        self._counts = counts
        self._loop = loop
        self._handle = handle
        self._max_frame = max_frame
        self._audit = audit

    def __call__(self, connection: Connection, view: memoryview, reply: Reply) -> None:
        """Take one frame."""
        login = connection.login
        if login is None:
            login = connection.login = Login(
                connection, self._sasl, self._counts, self._loop, self._audit
            )
        if login.state is State.DONE:
            if view[:2] != _HANDSHAKE:
                expires_at = connection.session.authentication.expires_at
                if expires_at is not None and time() > expires_at:
                    connection.close(
                        "its login has expired (connections.max.reauth.ms), or its user's password"
                        " was deleted, and it did not log in again",
                        kind="expired login",
                    )
                    return
                self._handle(connection, view, reply)
                return
            login.begin_again()
        if not login.take(view, reply):
            self._handle(connection, view, reply)
        elif login.state is State.DONE:
            connection.max_frame = self._max_frame
