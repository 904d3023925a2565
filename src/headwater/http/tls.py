"""TLS: the files that it needs, looked at before anything starts, and clients' certificates."""

from __future__ import annotations

import ssl
from enum import StrEnum
from typing import TYPE_CHECKING, NoReturn

from headwater.http.errors import StartError

if TYPE_CHECKING:
    from pathlib import Path


class TlsFileError(StartError):
    """A certificate or a key cannot be used; the message says which file, and why."""


def check_files(certificate: Path | None, key: Path | None, authority: Path | None) -> None:
    """Raise TlsFileError, or OSError with the file's name, for what cannot be used."""
    for certificates in (certificate, authority):
        if certificates is not None:
            _check_certificates(certificates)
    if certificate is not None and key is not None:
        _check_key(certificate, key)


class ClientAuthentication(StrEnum):
    """Whether clients show certificates, by the values of `ssl.client.authentication`."""

    NONE = "NONE"
    REQUESTED = "REQUESTED"
    REQUIRED = "REQUIRED"


def server_context(
    certificate: Path,
    key: Path,
    authority: Path | None = None,
    clients: ClientAuthentication = ClientAuthentication.NONE,
) -> ssl.SSLContext:
    """Return what a server needs to speak TLS with these files, which were checked before.

    Clients' certificates are verified with those of `authority`, or of this machine.
    """
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["h2", "http/1.1"])
    if clients is not ClientAuthentication.NONE:
        is_required = clients is ClientAuthentication.REQUIRED
        context.verify_mode = ssl.CERT_REQUIRED if is_required else ssl.CERT_OPTIONAL
        if authority is None:
            context.load_default_certs(ssl.Purpose.CLIENT_AUTH)
        else:
            context.load_verify_locations(authority)
    return context


def _check_certificates(path: Path) -> None:
    path.read_bytes()  # OpenSSL would not say which file is not there
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_verify_locations(path)
    except ssl.SSLError as failure:
        raise TlsFileError(
            f"{path} holds no certificates in PEM format ({_said(failure)})"
        ) from None


def _check_key(certificate: Path, key: Path) -> None:
    def refuse() -> NoReturn:
        # OpenSSL would ask whoever sits at the terminal, and wait.
        raise TlsFileError(f"{key} has a password. Use a key without one that only you can read")

    key.read_bytes()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key, refuse)
    except ssl.SSLError as failure:
        if failure.reason == "KEY_VALUES_MISMATCH":
            raise TlsFileError(f"{key} is not the key of {certificate}") from None
        raise TlsFileError(f"{key} holds no private key in PEM format ({_said(failure)})") from None


def _said(failure: ssl.SSLError) -> str:
    return failure.reason or str(failure)
