"""TLS with files that may change while a service serves: certificates, authorities, revocations."""

from __future__ import annotations

import logging
import ssl
import time
from typing import TYPE_CHECKING, NamedTuple, Self

from headwater.config import ConfigError
from headwater.http.errors import StartError
from headwater.http.tls import ClientAuthentication, TlsFileError, check_files, server_context
from headwater.security.revocations import SETTING, check_revocations

if TYPE_CHECKING:
    from pathlib import Path

logger = logging.getLogger("headwater.http")

_SAY_AGAIN_AFTER_S = 60.0
_REVOKED = {
    23: f"it was revoked ({SETTING})",
    3: f"{SETTING} has no list of the authority that has signed it",
    12: f"the list of {SETTING} is good no more; replace it, no restart is needed",
}
"""By OpenSSL's numbers of what is wrong with a certificate."""

_Fingerprint = tuple[int, int, int] | None


class TlsFiles(NamedTuple):
    """What a service speaks TLS with."""

    certificate: Path
    key: Path
    authority: Path | None = None
    """Who signs clients' certificates; those that this machine trusts where there is none."""
    clients: ClientAuthentication = ClientAuthentication.NONE
    revocations: Path | None = None
    """Lists of clients' certificates that count no more."""


class ChangingContext(ssl.SSLContext):
    """Begins each connection with the files as they are by then. What is open stays so.

    Files that cannot be used, or would lock clients out, are not taken over, and the log says why.
    Raises StartError and OSError where it cannot begin with them.
    """

    def __new__(cls, _: TlsFiles) -> Self:
        """Make one; it lends its own methods to what the files say."""
        return super().__new__(cls, ssl.PROTOCOL_TLS_SERVER)

    def __init__(self, files: TlsFiles) -> None:
        self._files = files
        self._seen = self._fingerprints()
        self._current = _load(files)

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        """Begin a connection; asyncio and uvloop call this for each."""
        seen = self._fingerprints()
        if seen != self._seen:
            # Noted first: what is refused is tried again when it has changed again.
            self._seen = seen
            self._take_over()
        return self._current.context.wrap_bio(
            incoming, outgoing, server_side, server_hostname, session
        )

    def _take_over(self) -> None:
        try:
            new = _load(self._files)
            _refuse_lock_out(self._files, self._current, new)
        except (StartError, OSError, ValueError) as failure:
            logger.error("the old certificates stay: %s", failure)
            return
        self._current = new
        logger.info("the certificates of %s were taken over", self._files.certificate)

    def _fingerprints(self) -> tuple[_Fingerprint, ...]:
        """Tell files that were changed or replaced from those that were not."""
        files = self._files
        paths = (files.certificate, files.key, files.authority, files.revocations)
        return tuple(_fingerprint(path) for path in paths if path is not None)


class _Loaded(NamedTuple):
    """What was made of the files, and the texts that it was made of."""

    context: ssl.SSLContext
    certificate: str
    authority: str | None


def _load(files: TlsFiles) -> _Loaded:
    check_files(files.certificate, files.key, files.authority)
    context = server_context(files.certificate, files.key, files.authority, files.clients)
    if files.clients is not ClientAuthentication.NONE:
        if files.revocations is not None:
            try:
                check_revocations(context, str(files.revocations))
            except ConfigError as failure:
                raise TlsFileError(str(failure)) from None
        context.sslobject_class = _Handshake
    authority = None if files.authority is None else _pem(files.authority)
    return _Loaded(context, _pem(files.certificate), authority)


def _pem(path: Path) -> str:
    # OpenSSL takes comments in any letters.
    return path.read_bytes().decode("ascii", "replace")


def _fingerprint(path: Path) -> _Fingerprint:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _refuse_lock_out(files: TlsFiles, before: _Loaded, after: _Loaded) -> None:
    """Raise TlsFileError if those who can connect now could not any more."""
    # With `cryptography`, which a service loads with the first certificate that has changed.
    from headwater.security.certificate_facts import facts_of, public_keys

    old, new = facts_of(before.certificate), facts_of(after.certificate)
    now = time.time()
    if now > new.expires_at:
        raise TlsFileError(f"{files.certificate} has expired")
    if now < new.valid_from:
        raise TlsFileError(f"{files.certificate} is not valid yet")
    if lost := old.names - new.names:
        raise TlsFileError(
            f"{files.certificate} lacks {', '.join(sorted(lost))}, by which clients may know this"
            " service; if that is right, start it again"
        )
    is_required = files.clients is ClientAuthentication.REQUIRED
    if is_required and before.authority is not None and after.authority is not None:
        trusted = public_keys([before.authority])
        if trusted.isdisjoint(public_keys([after.authority])):
            raise TlsFileError(
                f"{files.authority} has no authority that was trusted so far, so that every client"
                " would be locked out; trust the new ones beside the old ones first, and take"
                " these away later"
            )


class _Handshake(ssl.SSLObject):
    """A connection that says in the log why a client's certificate was refused."""

    _said: dict[str, float] = {}  # noqa: RUF012 - of the whole process

    def do_handshake(self) -> None:
        """Go on with the handshake."""
        try:
            super().do_handshake()
        except ssl.SSLCertVerificationError as failure:
            reason = _REVOKED.get(failure.verify_code, failure.verify_message)
            now = time.monotonic()
            # There are few reasons, and clients that try again and again.
            if now > self._said.get(reason, float("-inf")) + _SAY_AGAIN_AFTER_S:
                self._said[reason] = now
                logger.warning("a client's certificate was refused: %s", reason)
            raise
