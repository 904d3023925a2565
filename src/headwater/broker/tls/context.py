"""What OpenSSL needs to speak TLS as a listener's settings have it."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.tls import cipher_suites
from headwater.broker.tls.principal_rules import PrincipalRules
from headwater.broker.tls.stores import Identity, read_identity, read_trusted
from headwater.config import ConfigError
from headwater.security.certificate_facts import CertificateFacts, facts_of, public_keys
from headwater.security.owner_files import lend_path
from headwater.security.revocations import check_revocations

if TYPE_CHECKING:
    from headwater.broker.tls.settings import TlsSettings

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_VERIFY = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}


class TlsState(NamedTuple):
    """All that was made of a listener's settings and the files that they name."""

    settings: TlsSettings
    context: ssl.SSLContext
    certificate: CertificateFacts
    """The broker's own."""
    trusted: frozenset[bytes]
    """The keys of the authorities that may sign clients' certificates; empty for the machine's."""
    rules: PrincipalRules


def load(settings: TlsSettings) -> TlsState:
    """Read key store and trust store and make a context of them; raises ConfigError."""
    identity = read_identity(settings.key_store)
    rules = PrincipalRules(settings.principal_rules)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    versions = sorted(_VERSIONS[protocol] for protocol in settings.protocols)
    context.minimum_version, context.maximum_version = versions[0], versions[-1]
    context.options |= ssl.OP_NO_RENEGOTIATION
    if settings.cipher_suites:
        cipher_suites.restrict(context, settings.cipher_suites)
    _use(context, identity, settings)
    context.verify_mode = _VERIFY[settings.client_auth]
    # As in Java, what is in the trust store is trusted, whoever has signed it.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    trusted: list[str] = []
    if settings.trust_store.is_given:
        trusted = read_trusted(settings.trust_store)
        try:
            context.load_verify_locations(cadata="\n".join(trusted))
        except ssl.SSLError as error:
            raise ConfigError(
                settings.trust_store.setting,
                settings.trust_store.location,
                f"it holds a certificate that is damaged ({error.reason})",
            ) from None
    elif settings.client_auth != "none":
        context.load_default_certs(ssl.Purpose.CLIENT_AUTH)
    if settings.revocations is not None and settings.client_auth != "none":
        check_revocations(context, settings.revocations)
    try:
        facts = facts_of(identity.chain)
        keys = public_keys(trusted) if trusted else frozenset[bytes]()
    except ValueError as error:
        store = settings.key_store
        raise ConfigError(
            store.setting, store.location, f"one of the certificates is damaged ({error})"
        ) from None
    return TlsState(settings, context, facts, keys, rules)


def _use(context: ssl.SSLContext, identity: Identity, settings: TlsSettings) -> None:
    store = settings.key_store

    def password() -> str:
        # Asked for encrypted keys only. Without this, OpenSSL would ask whoever sits at the
        # terminal, and wait.
        if identity.password is None:
            raise ConfigError(store.setting, store.location, "the key needs ssl.key.password")
        return identity.password

    pem = f"{identity.key}\n{identity.chain}\n".encode()
    try:
        with lend_path(pem) as path:
            context.load_cert_chain(path, password=password)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            reason = "the key is not that of the certificate"
        elif identity.password is not None:
            reason = f"ssl.key.password does not open the key ({error.reason})"
        else:
            reason = f"OpenSSL cannot use it ({error.reason or error})"
        raise ConfigError(store.setting, store.location, reason) from None
