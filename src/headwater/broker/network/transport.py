"""What carries a connection's bytes: the one place that touches a client's socket.

A connection asks its transport to receive and to send, and its event loop when to try again. All
calls are non-blocking and raise BlockingIOError when they have to wait: receiving and the handshake
for the socket to become readable, sending for it to become writable. A transport that encrypts may
have to wait the other way round, because its own messages go both ways; `is_crossed` says so.
"""

from __future__ import annotations

import os
import socket
from functools import partial
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.broker.session import Authentication

MORE_FOLLOWS: int = getattr(socket, "MSG_MORE", 0)
"""The flag of `send` with which bytes may wait for those that are sent next."""


class Transport(Protocol):
    """A non-blocking way to and from one client."""

    @property
    def fd(self) -> int:
        """The descriptor to watch."""

    @property
    def is_established(self) -> bool:
        """Whether bytes can go now; if not, `handshake` comes first."""

    @property
    def authentication(self) -> Authentication | None:
        """Who the handshake has proved the client to be; None if nobody in particular."""

    @property
    def is_crossed(self) -> bool:
        """Whether the call that raised BlockingIOError waits for the other direction."""

    @property
    def has_pending(self) -> bool:
        """Whether there are received bytes that the descriptor does not announce any more."""

    @property
    def receive_into(self) -> Callable[[bytearray | memoryview], int]:
        """Fill a buffer with what is there and return how much that is: nothing at the end."""

    @property
    def send(self) -> Callable[[bytes | memoryview, int], int]:
        """Send bytes, with MORE_FOLLOWS or 0, and return how many have left."""

    @property
    def send_file(self) -> Callable[[int, int, int], int]:
        """Send a region of a file (descriptor, position, length) and return how much has left."""

    def handshake(self) -> None:
        """Go on with what has to be said before the first byte; returns when all of it has."""

    def close(self) -> None:
        """Hang up."""


class PlainTransport:
    """A socket as it is: no handshake, and segments go from the page cache to the network."""

    __slots__ = ("_socket", "fd", "receive_into", "send", "send_file")

    is_established = True
    authentication = None
    is_crossed = False
    has_pending = False

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self.fd = sock.fileno()
        # The socket's own methods, so that this class costs nothing for each call.
        self.receive_into: Callable[[bytearray | memoryview], int] = sock.recv_into
        self.send: Callable[[bytes | memoryview, int], int] = sock.send
        self.send_file: Callable[[int, int, int], int] = partial(os.sendfile, self.fd)

    def handshake(self) -> None:
        """Nothing has to be said."""

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()
