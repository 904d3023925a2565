"""The TLS settings of one listener: its own where there are any, the broker's where not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.config import ConfigError

if TYPE_CHECKING:
    from headwater.broker.config import BrokerConfig

PROTOCOLS = ("TLSv1.2", "TLSv1.3")
"""The versions that are served, the oldest first."""
STORE_TYPES = ("JKS", "PKCS12", "PEM")


class StoreSettings(NamedTuple):
    """A key store or a trust store: a file, or PEM text in the settings themselves."""

    setting: str
    """The setting to name when something is wrong with it."""
    location: str | None = None
    password: str | None = None
    key: str | None = None
    key_password: str | None = None
    certificates: str | None = None

    @property
    def is_given(self) -> bool:
        """Whether there is one at all."""
        return self.location is not None or self.certificates is not None


class TlsSettings(NamedTuple):
    """All that decides how a listener speaks TLS. Two that are equal lead to the same."""

    key_store: StoreSettings
    trust_store: StoreSettings
    client_auth: str
    protocols: tuple[str, ...]
    cipher_suites: tuple[str, ...]
    principal_rules: str
    may_change_name: bool
    may_lose_names: bool
    revocations: str | None = None
    """A file with lists of certificates that count no more."""

    @classmethod
    def of(cls, config: BrokerConfig, listener: str, *, with_sasl: bool = False) -> TlsSettings:
        """Read the settings of a listener; raises ConfigError for what cannot be.

        Where clients log in, they show certificates only if that was asked for this listener.
        """
        values = config.of_listener(listener)
        text, words = values.text, values.words
        client_auth = (values.own_text if with_sasl else text)("ssl.client.auth")
        for name in ("ssl.keystore.type", "ssl.truststore.type"):
            given = text(name)
            if (given or "").upper() not in STORE_TYPES:
                raise ConfigError(name, given, f"there are {', '.join(STORE_TYPES)}")
        return cls(
            StoreSettings(
                "ssl.keystore.location",
                text("ssl.keystore.location"),
                text("ssl.keystore.password"),
                text("ssl.keystore.key"),
                text("ssl.key.password"),
                text("ssl.keystore.certificate.chain"),
            ),
            StoreSettings(
                "ssl.truststore.location",
                text("ssl.truststore.location"),
                text("ssl.truststore.password"),
                certificates=text("ssl.truststore.certificates"),
            ),
            client_auth or "none",
            _checked(words("ssl.enabled.protocols")),
            words("ssl.cipher.suites"),
            text("ssl.principal.mapping.rules") or "DEFAULT",
            config.boolean("ssl.allow.dn.changes"),
            config.boolean("ssl.allow.san.changes"),
            text("headwater.ssl.crl.location"),
        )

    @property
    def files(self) -> tuple[str, ...]:
        """The files that certificates come from."""
        locations = (self.key_store.location, self.trust_store.location, self.revocations)
        return tuple(location for location in locations if location is not None)


def _checked(protocols: tuple[str, ...]) -> tuple[str, ...]:
    for protocol in protocols:
        if protocol not in PROTOCOLS:
            raise ConfigError(
                "ssl.enabled.protocols",
                ",".join(protocols),
                f"{protocol} is not served: only {' and '.join(PROTOCOLS)} are, because older"
                " versions can be broken",
            )
    return protocols or PROTOCOLS
