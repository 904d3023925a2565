"""TLS on a client's socket, for a connection that reads and writes when its event loop says so.

What arrives is decrypted straight into the frame's buffer; what leaves of a segment goes through
one buffer, from which it is encrypted. After it had to wait, OpenSSL wants to be called again with
the same bytes, which an outbox does: it tries the same part again, and segments never change.
"""

from __future__ import annotations

import os
import socket
import ssl
from contextlib import suppress
from typing import TYPE_CHECKING

from headwater.broker.session import USER, Authentication, Principal
from headwater.broker.tls.errors import HandshakeError
from headwater.broker.tls.handshake_errors import explain
from headwater.broker.tls.principal_rules import NoMatchingRule
from headwater.security.subjects import subject_of

if TYPE_CHECKING:
    from headwater.broker.network.authentication_counts import AuthenticationCounts
    from headwater.broker.tls.principal_rules import PrincipalRules

MECHANISM = "SSL"
"""What `Authentication.mechanism` is for who has shown a certificate."""

_RECORD = 16 * 1024
"""The most that TLS sends in one piece."""
_CHUNK = 4 * _RECORD
_HANDSHAKE_RECORD = 0x16
_chunk = memoryview(bytearray(_CHUNK))


class TlsTransport:
    """A socket with TLS on top; nothing is made for a client until it has said something."""

    __slots__ = (
        "_context", "_counts", "_failure", "_has_ended", "_held", "_rules", "_socket", "_tls",
        "authentication", "fd", "is_crossed", "is_established",
    )  # fmt: skip

    def __init__(
        self,
        sock: socket.socket,
        context: ssl.SSLContext,
        rules: PrincipalRules | None,
        counts: AuthenticationCounts,
    ) -> None:
        self._socket = sock
        self._context = context
        self._rules = rules
        self._counts = counts
        self._tls: ssl.SSLSocket | None = None
        self._held = b""
        self._has_ended = False
        self._failure: OSError | None = None
        self.fd = sock.fileno()
        self.is_established = False
        self.is_crossed = False
        self.authentication: Authentication | None = None

    @property
    def has_pending(self) -> bool:
        """Whether a record has been decrypted and not been taken to its end, or an end not told."""
        return self._has_ended or (self._tls is not None and self._tls.pending() > 0)

    def handshake(self) -> None:
        """Go on with the handshake; raises HandshakeError if there can be none."""
        try:
            tls = self._tls or self._begin()
            tls.do_handshake()
            self._identify(tls)
        except ssl.SSLWantReadError:
            self.is_crossed = False
            raise BlockingIOError from None
        except ssl.SSLWantWriteError:
            self.is_crossed = True
            raise BlockingIOError from None
        except ssl.SSLError as error:
            self._counts.failed += 1
            raise HandshakeError(explain(error)) from error
        except (NoMatchingRule, HandshakeError) as error:
            self._counts.failed += 1
            raise HandshakeError(str(error)) from error
        self.is_established = True

    def receive_into(self, buffer: bytearray | memoryview) -> int:
        """Decrypt what is there, up to the buffer's size."""
        assert self._tls is not None
        if self._has_ended:
            if self._failure is not None:
                raise self._failure
            return 0
        # What `recv_into` would call: it is called for each record, and clients make short ones.
        read = self._tls.read
        size = len(buffer)
        received = 0
        try:
            with memoryview(buffer) as view:
                # Until there is no more: to be called again for each record costs more.
                while received < size:
                    with view[received:] as rest:
                        more = read(size - received, rest)
                    if not more:
                        # Told by the next call, if this one has bytes; no event announces it.
                        self._has_ended = True
                        break
                    received += more  # type: ignore[operator]  # with a buffer it is a number
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError) as wait:
            if not received:
                self.is_crossed = isinstance(wait, ssl.SSLWantWriteError)
                raise BlockingIOError from None
        except OSError as failure:
            if not received:
                raise
            self._has_ended, self._failure = True, failure.with_traceback(None)
        return received

    def send(self, data: bytes | memoryview, flags: int) -> int:
        """Encrypt and send; what is small waits for what follows, to be in one record with it."""
        held = self._held
        if flags and len(held) + len(data) < _RECORD:
            self._held = held + data
            return len(data)
        return self._write(memoryview(held + data if held else data), len(held))

    def send_file(self, fd: int, position: int, length: int) -> int:
        """Read a piece of a file, encrypt and send it."""
        start = len(self._held)
        chunk = _chunk[: min(start + length, _CHUNK)]
        chunk[:start] = self._held
        read = os.preadv(fd, [chunk[start:]], position)
        return self._write(chunk[: start + read], start) if read else 0

    def close(self) -> None:
        """Say goodbye, if there was a handshake, and hang up."""
        if self._tls is None:
            self._socket.close()
            return
        if self.is_established:
            # The other end may be gone, or have no room for it: then it does without.
            with suppress(OSError, ValueError):
                self._tls.unwrap()
        self._tls.close()

    def _begin(self) -> ssl.SSLSocket:
        first = self._socket.recv(1, socket.MSG_PEEK)
        if not first:
            raise ConnectionAbortedError("it hung up before its handshake")
        if first[0] != _HANDSHAKE_RECORD:
            raise HandshakeError(
                "it speaks plain text, and this listener speaks TLS; set security.protocol of the"
                " client to SSL or SASL_SSL, or have it connect to another listener"
            )
        self._tls = self._context.wrap_socket(
            self._socket, server_side=True, do_handshake_on_connect=False
        )
        return self._tls

    def _identify(self, tls: ssl.SSLSocket) -> None:
        if self._rules is None:
            return
        certificate = tls.getpeercert(binary_form=True)
        if certificate is not None:
            name = self._rules.apply(subject_of(certificate))
            self.authentication = Authentication(Principal(USER, name), MECHANISM)
        self._counts.succeeded += 1

    def _write(self, data: memoryview, held: int) -> int:
        """Send `data`, of which the first bytes were held back, and return how much of the rest."""
        assert self._tls is not None
        write = self._tls.write
        size = len(data)
        sent = 0
        try:
            while sent < size:
                sent += write(data[sent:] if sent else data)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError) as wait:
            if sent <= held:
                self._held = self._held[sent:]
                self.is_crossed = isinstance(wait, ssl.SSLWantReadError)
                raise BlockingIOError from None
        if held:
            self._held = b""
        return sent - held
