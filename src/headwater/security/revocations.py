"""Lists of revoked certificates (CRLs): read, checked, and handed to OpenSSL."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from pathlib import Path

from headwater.config import ConfigError
from headwater.security.owner_files import lend_path

SETTING = "headwater.ssl.crl.location"

_END = b"-----END X509 CRL-----"


def check_revocations(context: ssl.SSLContext, location: str) -> None:
    """Let nobody in whose certificate is on a list; raises ConfigError for a file of no use.

    Whoever has signed clients' certificates must have a list in it, and a current one: OpenSSL
    lets nobody in of whom it cannot tell.
    """
    pem = _read(location)
    try:
        with lend_path(pem) as path:
            context.load_verify_locations(cafile=path)
    except ssl.SSLError as error:
        raise ConfigError(SETTING, location, f"OpenSSL cannot use it ({error.reason})") from None
    context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF


def _read(location: str) -> bytes:
    from cryptography import x509

    try:
        data = Path(location).expanduser().read_bytes()
    except OSError as failure:
        raise ConfigError(SETTING, location, failure.strerror or str(failure)) from None
    lists = [part + _END for part in data.split(_END)[:-1]]
    if not lists:
        raise ConfigError(SETTING, location, "it holds no list of revoked certificates in PEM")
    for each in lists:
        try:
            until = x509.load_pem_x509_crl(each).next_update_utc
        except ValueError as error:
            raise ConfigError(SETTING, location, f"one of its lists is damaged ({error})") from None
        if until is not None and until < datetime.now(UTC):
            raise ConfigError(
                SETTING, location, f"one of its lists was good until {until:%Y-%m-%d %H:%M} only"
            )
    return b"\n".join(lists) + b"\n"
