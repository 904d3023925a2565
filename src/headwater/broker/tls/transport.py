"""TLS on a client's socket, for a connection that reads and writes when its event loop says so.

The socket is read and written in large pieces, and `records.py` makes something of them. What was
encrypted cannot be taken back: until it has left, the bytes that it was made of have not either. An
outbox tries the same part again, and segments never change, so that these are counted then.
"""

from __future__ import annotations

import os
import socket
import ssl
from contextlib import suppress
from typing import TYPE_CHECKING

from headwater.broker.network.scratch import SCRATCH_BYTES, Scratch
from headwater.broker.session import USER, Authentication, Principal
from headwater.broker.tls.errors import HandshakeError
from headwater.broker.tls.handshake_errors import explain
from headwater.broker.tls.principal_rules import NoMatchingRule
from headwater.broker.tls.records import TlsRecords
from headwater.security.subjects import subject_of

if TYPE_CHECKING:
    from headwater.broker.network.authentication_counts import AuthenticationCounts
    from headwater.broker.tls.principal_rules import PrincipalRules

MECHANISM = "SSL"
"""What `Authentication.mechanism` is for who has shown a certificate."""

_RECORD = 16 * 1024
"""The most that TLS sends in one piece."""
_CHUNK = SCRATCH_BYTES
"""The most that is received, or encrypted, at once: it stays in the processor's cache."""
_HANDSHAKE_RECORD = 0x16
_scratch = Scratch()
_nothing = memoryview(b"")


class TlsTransport:
    """A socket with TLS on top; nothing is made for a client until it has said something."""

    __slots__ = (
        "_chunk", "_context", "_counts", "_encrypted", "_held", "_owed", "_records", "_rules",
        "_socket", "_speaks_itself", "authentication", "fd", "is_crossed", "is_established",
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
        self._chunk = _scratch.view
        self._records: TlsRecords | None = None
        self._held = b""
        """To be encrypted together with what follows."""
        self._encrypted = _nothing
        """What the socket has not taken yet."""
        self._owed = 0
        """How many of the bytes that are tried again were encrypted already."""
        self._speaks_itself = False
        """Whether `_encrypted` has something that TLS says of its own accord."""
        self.fd = sock.fileno()
        self.is_established = False
        self.is_crossed = False
        self.authentication: Authentication | None = None

    @property
    def has_pending(self) -> bool:
        """Whether bytes were received and not taken to their end, or an end not told."""
        records = self._records
        return records is not None and (records.has_ended or records.has_pending)

    def handshake(self) -> None:
        """Go on with the handshake; raises HandshakeError if there can be none."""
        try:
            records = self._records or self._begin()
            self._shake_hands(records)
            self._identify(records)
        except ssl.SSLError as error:
            self._counts.failed += 1
            raise HandshakeError(explain(error)) from error
        except (NoMatchingRule, HandshakeError) as error:
            self._counts.failed += 1
            raise HandshakeError(str(error)) from error
        self.is_established = True

    def receive_into(self, buffer: bytearray | memoryview) -> int:
        """Decrypt what is there, up to the buffer's size."""
        records = self._records
        assert records is not None
        # A client that takes nothing must not have TLS say ever more to it.
        self.is_crossed = self._speaks_itself and not self._push()
        if self.is_crossed:
            raise BlockingIOError
        size = len(buffer)
        received = 0
        with memoryview(buffer) as view:
            if records.has_pending:
                received = records.decrypt(_nothing, view, 0)
            # Not for a rest so small that most of what comes would have to be put aside.
            while not records.has_ended and (not received or size - received >= _RECORD):
                arrived = self._arrived(records)
                if arrived:
                    received = records.decrypt(self._chunk[:arrived], view, received)
                if arrived < _CHUNK:
                    break
        try:
            self._push_said(records)
        except OSError as failure:
            records.end(failure)
        if received:
            return received
        if records.failure is not None:
            raise records.failure
        if not records.has_ended:
            raise BlockingIOError
        return 0

    def send(self, data: bytes | memoryview, flags: int) -> int:
        """Encrypt and send; what is small waits for what follows, to be in one record with it."""
        sent = self._settle()
        if sent == len(data) > 0:
            return sent
        rest = data[sent:] if sent else data
        if flags and len(self._held) + len(rest) < _RECORD:
            self._held += rest
            return len(data)
        held, self._held = self._held, b""
        view = memoryview(held + rest if held else rest)
        for start in range(0, len(view), _CHUNK):
            piece = view[start : start + _CHUNK]
            new = len(piece) - (0 if start else len(held))
            if not self._push_encrypted(piece, new):
                break
            sent += new
        if self._encrypted and not sent:
            raise BlockingIOError
        return sent

    def send_file(self, fd: int, position: int, length: int) -> int:
        """Read a piece of a file, encrypt and send it."""
        sent = self._settle()
        if sent:
            return sent
        start = len(self._held)
        chunk = self._chunk[: min(start + length, _CHUNK)]
        chunk[:start] = self._held
        read = os.preadv(fd, [chunk[start:]], position)
        if read:
            self._held = b""
            if not self._push_encrypted(chunk[: start + read], read):
                raise BlockingIOError
        return read

    def close(self) -> None:
        """Say goodbye, if there was a handshake, and hang up."""
        if self.is_established and self._records is not None:
            self._records.say_goodbye()
            # The other end may be gone, or have no room for it: then it does without.
            with suppress(OSError):
                self._push_said(self._records)
        self._socket.close()

    # -- the handshake

    def _begin(self) -> TlsRecords:
        first = self._socket.recv(1, socket.MSG_PEEK)
        if not first:
            raise ConnectionAbortedError("it hung up before its handshake")
        if first[0] != _HANDSHAKE_RECORD:
            raise HandshakeError(
                "it speaks plain text, and this listener speaks TLS; set security.protocol of the"
                " client to SSL or SASL_SSL, or have it connect to another listener"
            )
        self._records = TlsRecords(self._context)
        return self._records

    def _shake_hands(self, records: TlsRecords) -> None:
        arrived = 0
        while True:
            try:
                is_over = records.shake_hands(self._chunk[:arrived])
            except ssl.SSLError:
                with suppress(OSError):
                    self._push_said(records)
                raise
            self.is_crossed = not self._push_said(records)
            if self.is_crossed:
                raise BlockingIOError
            if is_over:
                return
            arrived = self._socket.recv_into(self._chunk)
            if not arrived:
                raise HandshakeError("it hung up in the middle of it")

    def _identify(self, records: TlsRecords) -> None:
        if self._rules is None:
            return
        certificate = records.certificate()
        if certificate is not None:
            name = self._rules.apply(subject_of(certificate))
            self.authentication = Authentication(Principal(USER, name), MECHANISM)
        self._counts.succeeded += 1

    # -- the socket

    def _arrived(self, records: TlsRecords) -> int:
        """Receive into `_chunk`, and return how much; none if there is none now, or never again."""
        try:
            arrived = self._socket.recv_into(self._chunk)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError as failure:
            records.end(failure)
            return 0
        if not arrived:
            records.end(None)
        return arrived

    def _settle(self) -> int:
        """Have what is encrypted leave, and return how many of the bytes tried again it was."""
        self.is_crossed = False
        if not self._push():
            raise BlockingIOError
        owed, self._owed = self._owed, 0
        return owed

    def _push_encrypted(self, data: memoryview, owed: int) -> bool:
        assert self._records is not None
        self._encrypted = memoryview(self._records.encrypt(data))
        if self._push():
            return True
        self._owed = owed
        return False

    def _push_said(self, records: TlsRecords) -> bool:
        said = records.take_said()
        if said:
            self._encrypted = memoryview(b"".join((self._encrypted, said)))
            self._speaks_itself = True
        return self._push()

    def _push(self) -> bool:
        """Send what is encrypted, and return whether all of it has left."""
        if self._encrypted:
            try:
                sent = self._socket.send(self._encrypted)
            except (BlockingIOError, InterruptedError):
                return False
            self._encrypted = self._encrypted[sent:]
            if self._encrypted:
                return False
            self._encrypted = _nothing
        self._speaks_itself = False
        return True
