"""What can go wrong with TLS on one connection."""

from __future__ import annotations


class HandshakeError(OSError):
    """A handshake cannot be completed; the message says what the client did, and what to do."""
