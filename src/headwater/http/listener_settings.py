"""Where a service listens, whom it lets in, and with which certificate: settings that all share.

A service puts `listener_definitions` among its own, and its config extends `ListenerConfig`:

    SETTINGS = Definitions("rest", *listener_definitions(8082), ...)

    @dataclass(slots=True)
    class RestConfig(ListenerConfig):
        port: int = 8082
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from headwater.config import (
    ConfigDef,
    ConfigError,
    ConfigType,
    Importance,
    Values,
    list_of,
    one_of_any_case,
)
from headwater.http.tls import ClientAuthentication

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping

    from headwater.http.access_log import AccessLog
    from headwater.http.authentication import Authenticator
    from headwater.http.forwarding import Forwarder
    from headwater.http.rights import Rights


_READ_KEYS_AGAIN_S = 3600.0  # as Kafka's listeners do


def listener_definitions(port: int) -> tuple[ConfigDef, ...]:
    """Return the settings of a service's listener, under Confluent's names."""
    return (
        ConfigDef(
            "listeners",
            ConfigType.LIST,
            (f"http://127.0.0.1:{port}",),
            "Where it listens, as http://HOST:PORT; the first one counts.",
            list_of(may_be_empty=False),
            importance=Importance.HIGH,
        ),
        ConfigDef(
            "authentication.users.file",
            ConfigType.STRING,
            None,
            "A file of those who may come in, with basic authentication.",
        ),
        ConfigDef(
            "oauthbearer.jwks.endpoint.url",
            ConfigType.STRING,
            None,
            "Where an identity provider publishes its keys, a file: or https: address: who shows a"
            " token that it has signed may come in, with bearer authentication.",
        ),
        ConfigDef(
            "oauthbearer.expected.issuer",
            ConfigType.STRING,
            None,
            "Who must have issued such a token.",
        ),
        ConfigDef(
            "oauthbearer.expected.audience",
            ConfigType.LIST,
            (),
            "For whom it must be, one of these.",
        ),
        ConfigDef(
            "oauthbearer.sub.claim.name",
            ConfigType.STRING,
            "sub",
            "Which of its claims has the user's name.",
        ),
        ConfigDef(
            "ssl.certificate.location",
            ConfigType.STRING,
            None,
            "A certificate chain in PEM format, for https.",
        ),
        ConfigDef(
            "ssl.key.location", ConfigType.STRING, None, "The private key of that certificate."
        ),
        ConfigDef(
            "ssl.ca.location",
            ConfigType.STRING,
            None,
            "Whom to trust: clients' certificates, and other instances that are asked by https.",
        ),
        ConfigDef(
            "ssl.client.authentication",
            ConfigType.STRING,
            "NONE",
            "Whether clients are asked for certificates, and whether they have to have one; with"
            " REQUESTED, ssl.ca.location and users, a certificate whose CN is a user's name does"
            " instead of the password.",
            one_of_any_case(*ClientAuthentication),
        ),
        ConfigDef(
            "headwater.ssl.crl.location",
            ConfigType.STRING,
            None,
            "A file in PEM format with lists of revoked certificates (CRLs), one of each authority"
            " that signs clients' certificates; replaced lists count without a restart.",
        ),
        ConfigDef(
            "request.logger.name",
            ConfigType.STRING,
            None,
            "A name for the lines of the log that tell who asked for what.",
            importance=Importance.LOW,
        ),
    )


@dataclass(slots=True)
class ListenerConfig:
    """What these settings mean to a service."""

    host: str = "127.0.0.1"
    port: int = 0
    users_file: Path | None = None
    token_keys: str | None = None
    token_issuer: str | None = None
    token_audience: tuple[str, ...] = ()
    token_subject_claim: str = "sub"
    certificate_file: Path | None = None
    key_file: Path | None = None
    ca_file: Path | None = None
    client_authentication: ClientAuthentication = ClientAuthentication.NONE
    revocations_file: Path | None = None
    request_logger: str | None = None
    rules_file: Path | None = None
    passes_credentials_on: bool = False  # to somebody who knows whom to let in

    def take(self, name: str, values: Values) -> bool:
        """Take a setting, if it is one of a listener; raises ConfigError."""
        if name == "listeners":
            self.host, self.port = _address(values.words(name))
        elif name in _ATTRIBUTES:
            attribute, convert = _ATTRIBUTES[name]
            setattr(self, attribute, convert(values[name]))
        else:
            return False
        return True

    def check(self) -> None:
        """Refuse settings that do not go together; raises ConfigError."""
        if (self.certificate_file is None) != (self.key_file is None):
            raise ConfigError(
                "ssl.key.location", self.key_file, "TLS needs both a certificate and its key"
            )
        # Each of these would look as if it kept somebody out.
        asks_nobody = self.client_authentication is ClientAuthentication.NONE
        if asks_nobody and self.revocations_file is not None:
            reason = "clients are asked for no certificates; set ssl.client.authentication"
            raise ConfigError("headwater.ssl.crl.location", self.revocations_file, reason)
        if self.token_keys is None:
            reason = "no tokens are taken; set oauthbearer.jwks.endpoint.url"
            if self.passes_credentials_on:
                reason = "the cluster checks tokens; leave this out"
            for name, expected in (
                ("oauthbearer.expected.issuer", self.token_issuer),
                ("oauthbearer.expected.audience", ",".join(self.token_audience)),
            ):
                if expected:
                    raise ConfigError(name, expected, reason)

    @property
    def has_users(self) -> bool:
        """Whether it has passwords to compare, or keys to check tokens with."""
        return self.users_file is not None or self.token_keys is not None

    @property
    def scheme(self) -> str:
        """https where there is a certificate."""
        return "http" if self.certificate_file is None else "https"

    def tls(self) -> ssl.SSLContext | None:
        """Return what the server needs to speak TLS, if it does; raises StartError, OSError."""
        from headwater.http.tls import check_files

        check_files(self.certificate_file, self.key_file, self.ca_file)
        if self.certificate_file is None or self.key_file is None:
            return None
        from headwater.http.changing_context import ChangingContext, TlsFiles

        return ChangingContext(
            TlsFiles(
                self.certificate_file,
                self.key_file,
                self.ca_file,
                self.client_authentication,
                self.revocations_file,
            )
        )

    def forwarder(self, timeout_s: float) -> Forwarder:
        """Return what asks other instances, which have certificates as this one has."""
        from headwater.http.forwarding import Forwarder

        return Forwarder(timeout_s, self.ca_file, self.certificate_file, self.key_file)

    def authenticator(self, realm: str) -> Authenticator | None:
        """Return who says whether somebody may come in; None where everybody may.

        Raises StartError and OSError for files and addresses that cannot be used.
        """
        by_password = self._by_password(realm)
        return by_password if self.token_keys is None else self._by_token(realm, by_password)

    def _by_token(self, realm: str, others: Authenticator | None) -> Authenticator:
        from headwater.http.bearer_auth import BearerAuth
        from headwater.http.errors import StartError
        from headwater.security.jwks import JwksError, KeySource
        from headwater.security.jwt import Expectations

        try:
            keys = KeySource(self.token_keys or "", _READ_KEYS_AGAIN_S)
        except JwksError as failure:
            raise StartError(f"oauthbearer.jwks.endpoint.url: {failure}") from None
        expected = Expectations(
            self.token_issuer, self.token_audience, subject_claim=self.token_subject_claim
        )
        return BearerAuth(keys, expected, realm, others)

    def _by_password(self, realm: str) -> Authenticator | None:
        if self.users_file is None:
            return None
        from headwater.http.basic_auth import BasicAuth

        passwords = BasicAuth.from_file(self.users_file, realm)
        # Not with the authorities that this machine trusts: anybody gets certificates of those.
        if self.client_authentication is ClientAuthentication.REQUESTED and self.ca_file:
            from headwater.http.certificate_auth import CertificateOrPassword

            return CertificateOrPassword(passwords)
        return passwords

    def rights(self) -> Rights | None:
        """Return who may do what; None where everybody may do everything. Raises StartError."""
        if self.rules_file is None:
            return None
        from headwater.http.rights import Rights

        return Rights.from_file(self.rules_file)

    def access_log(self) -> AccessLog | None:
        """Return where requests are written down, if they are."""
        if not self.request_logger:
            return None
        from headwater.http.access_log import AccessLog

        return AccessLog(self.request_logger)


def _address(listeners: tuple[str, ...]) -> tuple[str, int]:
    try:
        parts = urlsplit(listeners[0])
        port = parts.port
    except ValueError:  # a port that is no number, or a bracket that is not closed
        port = None
    if port is None or parts.scheme not in ("http", "https"):
        raise ConfigError("listeners", listeners[0], "it is not of the form http://HOST:PORT")
    return parts.hostname or "0.0.0.0", port


def _client_authentication(value: str) -> ClientAuthentication:
    return ClientAuthentication(value.upper())


def _as_it_is(value: Any) -> Any:
    return value


_ATTRIBUTES: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "authentication.users.file": ("users_file", Path),
    "oauthbearer.jwks.endpoint.url": ("token_keys", _as_it_is),
    "oauthbearer.expected.issuer": ("token_issuer", _as_it_is),
    "oauthbearer.expected.audience": ("token_audience", tuple),
    "oauthbearer.sub.claim.name": ("token_subject_claim", _as_it_is),
    "ssl.certificate.location": ("certificate_file", Path),
    "ssl.key.location": ("key_file", Path),
    "ssl.ca.location": ("ca_file", Path),
    "ssl.client.authentication": ("client_authentication", _client_authentication),
    "headwater.ssl.crl.location": ("revocations_file", Path),
    "request.logger.name": ("request_logger", _as_it_is),
    "authorization.rules.file": ("rules_file", Path),
}
