"""What a client's OpenSSL makes of bytes: records of TLS from plain ones, and the other way round.

It never touches a socket, so that one system call carries as many records as there are. It works on
two pieces of memory, which all clients of an event loop share: what OpenSSL has once made large
stays so. Each call leaves them empty, and what is over is kept for its client.
"""

from __future__ import annotations

import ssl
import threading
from contextlib import suppress


class _Memory(threading.local):
    """Of each thread, as one process may have several brokers."""

    def __init__(self) -> None:
        self.incoming = ssl.MemoryBIO()
        self.outgoing = ssl.MemoryBIO()


_memory = _Memory()


class TlsRecords:
    """The broker's end of one client's TLS, without the way to the client."""

    __slots__ = ("_ahead", "_incoming", "_outgoing", "_said", "_tls", "failure", "has_ended")

    def __init__(self, context: ssl.SSLContext) -> None:
        self._incoming, self._outgoing = _memory.incoming, _memory.outgoing
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._ahead = b""
        """Received, and not looked at."""
        self._said = b""
        self.has_ended = False
        """Whether nothing more can come: the client has said goodbye, or there was a failure."""
        self.failure: OSError | None = None

    @property
    def has_pending(self) -> bool:
        """Whether there may be more to decrypt, without any more bytes from the client."""
        return bool(self._ahead) or self._tls.pending() > 0

    def take_said(self) -> bytes:
        """Return what TLS has to say of its own accord, which must leave before all else."""
        said, self._said = self._said, b""
        return said

    def shake_hands(self, arrived: memoryview) -> bool:
        """Go on with the handshake and return whether it is over."""
        try:
            self._feed(arrived)
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        finally:
            self._tidy()
        return True

    def certificate(self) -> bytes | None:
        """Return the certificate that the client has shown, as DER."""
        return self._tls.getpeercert(binary_form=True)

    def decrypt(self, arrived: memoryview, into: memoryview, filled: int) -> int:
        """Fill a buffer and return how full it is then; failures wait behind what came before."""
        size = len(into)
        read, pending = self._tls.read, self._tls.pending
        try:
            self._feed(arrived)
            # A record at a time; without a whole one OpenSSL takes what there is, and waits.
            while filled < size and (self._incoming.pending or pending()):
                with into[filled:] as rest:
                    more = read(size - filled, rest)
                if not more:
                    self.has_ended = True
                    break
                filled += more  # type: ignore[operator]  # with a buffer it is a number
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as failure:
            self.end(failure)
        finally:
            self._tidy()
        return filled

    def end(self, failure: OSError | None) -> None:
        """Expect nothing more of the client, to whom this has happened."""
        if not self.has_ended:
            self.has_ended = True
            self.failure = failure and failure.with_traceback(None)

    def encrypt(self, data: memoryview) -> bytes:
        """Return the records that hold these bytes."""
        write = self._tls.write
        size = len(data)
        written = 0
        try:
            while written < size:
                written += write(data[written:] if written else data)
        finally:
            records = self._outgoing.read()
        return records

    def say_goodbye(self) -> None:
        """Have TLS say that nothing follows, if it still can."""
        try:
            with suppress(OSError, ValueError):
                self._tls.unwrap()
        finally:
            self._tidy()

    def _feed(self, arrived: memoryview) -> None:
        if self._ahead:
            self._incoming.write(self._ahead)
            self._ahead = b""
        if arrived:
            self._incoming.write(arrived)

    def _tidy(self) -> None:
        """Leave the memory to the next client."""
        if self._incoming.pending:
            ahead = self._incoming.read()
            if not self.has_ended:
                self._ahead = ahead
        if self._outgoing.pending:
            self._said += self._outgoing.read()
