"""A listening socket: accepts connections, limits them, and closes the idle ones."""

from __future__ import annotations

import errno
import logging
import socket
from time import monotonic
from typing import TYPE_CHECKING

from headwater.broker.network.connection import Connection
from headwater.broker.network.resets import EVERY_S, Resets
from headwater.broker.session import Session
from headwater.log.rate_limited_logger import RateLimitedLogger

if TYPE_CHECKING:
    import asyncio

    from headwater.broker.authorizer import Authorizer
    from headwater.broker.network.answer_budget import AnswerBudget
    from headwater.broker.network.connection_limits import ConnectionLimits
    from headwater.broker.network.listener_security import ListenerSecurity

logger = logging.getLogger("headwater.broker")
_refusals = RateLimitedLogger(logger)

_ACCEPTS_PER_WAKE = 64
_ACCEPT_PAUSE_S = 1.0
_OUT_OF_RESOURCES = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


class ListenError(OSError):
    """An address cannot be listened on; the message says which, why, and what to do."""


class Listener:
    """Accepts the connections of one listener name and keeps track of them."""

    def __init__(
        self,
        name: str,
        security: ListenerSecurity,
        sock: socket.socket,
        loop: asyncio.AbstractEventLoop,
        *,
        limits: ConnectionLimits,
        budget: AnswerBudget,
        authorizer: Authorizer,
        send_buffer: int = -1,
        receive_buffer: int = -1,
        resets_every_s: float = EVERY_S,
    ) -> None:
        self.name = name
        self.security = security
        self.connections: set[Connection] = set()
        self.accepted = 0
        self._socket = sock
        self._loop = loop
        self._limits = limits
        self._budget = budget
        self._authorizer = authorizer
        self._newcomers = security.newcomers
        self._resets = Resets(loop, self.connections, resets_every_s)
        self._buffers = [
            (option, size)
            for option, size in (
                (socket.SO_SNDBUF, send_buffer),
                (socket.SO_RCVBUF, receive_buffer),
            )
            if size > 0
        ]
        self._accepting = False
        self._resume: asyncio.TimerHandle | None = None
        self._held_off: set[socket.socket] = set()
        self.address: tuple[str, int] = sock.getsockname()[:2]

    def start(self) -> None:
        """Begin to accept."""
        self._resets.start()
        if not self._accepting:
            self._accepting = True
            self._loop.add_reader(self._socket.fileno(), self._on_acceptable)

    def stop_accepting(self) -> None:
        """Accept no more; open connections go on."""
        if self._resume is not None:
            self._resume.cancel()
            self._resume = None
        if self._accepting:
            self._accepting = False
            self._loop.remove_reader(self._socket.fileno())

    def close(self) -> None:
        """Stop accepting and close every connection."""
        self.stop_accepting()
        self._socket.close()
        self._resets.stop()
        if self._newcomers is not None:
            self._newcomers.stop()
        for connection in tuple(self.connections):
            connection.close()
        for sock in tuple(self._held_off):
            self._drop(sock)

    def close_idle(self, max_idle_s: float) -> None:
        """Close the connections that have neither sent nor awaited anything for so long."""
        oldest = monotonic() - max_idle_s
        for connection in tuple(self.connections):
            if connection.last_active < oldest and not connection.is_waiting:
                connection.close()

    def _on_acceptable(self) -> None:
        for _ in range(_ACCEPTS_PER_WAKE):
            try:
                sock, peer = self._socket.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno in _OUT_OF_RESOURCES:
                    self._pause(error)
                    return
                raise
            self._accept(sock, peer[:2])

    def _accept(self, sock: socket.socket, peer: tuple[str, int]) -> None:
        delay_ms = self._limits.delay_ms(peer[0])
        if delay_ms:
            # Closed later and not now, when the client would only try again at once.
            self._held_off.add(sock)
            self._loop.call_later(delay_ms / 1000, self._drop, sock)
            return
        refusal = self._limits.admit(peer[0])
        if refusal is not None:
            _refusals.warning(
                (self.name, peer[0]), "refused a connection from %s:%s: %s", *peer, refusal
            )
            sock.close()
            return
        self.accepted += 1
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, size in self._buffers:
            sock.setsockopt(socket.SOL_SOCKET, option, size)
        connection = Connection(
            self.security.open_transport(sock),
            Session(self.name, self.security.protocol, *peer, self._authorizer),
            self._loop,
            self.security.handle,
            self._on_closed,
            self.security.max_frame,
            self._budget,
        )
        self.connections.add(connection)
        if self._newcomers is not None:
            self._newcomers.add(connection)

    def _drop(self, sock: socket.socket) -> None:
        self._held_off.discard(sock)
        sock.close()

    def _on_closed(self, connection: Connection) -> None:
        self.connections.discard(connection)
        if self._newcomers is not None:
            self._newcomers.discard(connection)
        self._limits.release(connection.session.client_host)

    def _pause(self, error: OSError) -> None:
        # Without a pause the loop would spin: the connection stays acceptable.
        _refusals.error(
            (self.name, error.errno),
            "can't accept connections on %s: %s; trying again in %s s (is `ulimit -n` too low?)",
            self.name, error.strerror, _ACCEPT_PAUSE_S,
        )  # fmt: skip
        self.stop_accepting()
        self._resume = self._loop.call_later(_ACCEPT_PAUSE_S, self.start)


def bind(host: str, port: int, backlog: int) -> socket.socket:
    """Open a listening socket, or raise ListenError; an empty host means every interface."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setblocking(False)
        sock.bind((host, port))
        sock.listen(backlog)
    except OSError as error:
        sock.close()
        raise ListenError(_why_not(host, port, error)) from error
    except BaseException:
        sock.close()
        raise
    return sock


def _why_not(host: str, port: int, error: OSError) -> str:
    where = f"port {port} of {host or 'every interface'}"
    what = f"{where} cannot be listened on ({error.strerror or error})"
    if error.errno == errno.EADDRINUSE:
        return f"{what}; stop what listens there, or choose another one with --port or listeners"
    return f"{what}; see listeners"
