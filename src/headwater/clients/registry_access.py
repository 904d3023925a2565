"""How to get to a schema registry: its addresses, and what lets a client in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from headwater.clients.errors import InvalidPropertiesError
from headwater.clients.settings import resolved

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable, Mapping

DEFAULT_URL = "http://localhost:8081"
PREFIX = "schema.registry."


@dataclass(frozen=True, slots=True)
class RegistryAccess:
    """A registry's addresses and the credentials for it.

    >>> access = RegistryAccess.of({"url": "https://sr:8081", "basic.auth.user.info": "ada:secret"})
    >>> access.urls, access.username
    (('https://sr:8081',), 'ada')

    `ca_file`, `cert_file` and `key_file` are PEM files. `verify=False` trusts any certificate. It
    can be pickled, so that a Spark job can carry it along.
    """

    urls: tuple[str, ...]
    username: str | None = None
    password: str | None = None
    token: str | None = None
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    key_password: str | None = None
    verify: bool = True
    check_host: bool = True
    timeout_s: float = 30.0
    retries: int = 3

    @classmethod
    def of(cls, properties: Mapping[str, str]) -> RegistryAccess:
        """Take Confluent's names, with `schema.registry.` in front or without.

        References to secrets are resolved. Raises InvalidPropertiesError for a name that is
        unknown, or a value that cannot be used.
        """
        named = {name.removeprefix(PREFIX): value for name, value in resolved(properties).items()}
        access = cls(split_urls(named.pop("url", "") or DEFAULT_URL))
        access = _with_credentials(access, named)
        return _with_certificates(access, named)

    def java(self) -> dict[str, str]:
        """Return the settings of Confluent's serialisers in Java, which have their prefix."""
        found = self.confluent()
        if self.username is not None:
            found["basic.auth.credentials.source"] = "USER_INFO"
        return {f"{PREFIX}{name}": value for name, value in found.items()}

    def confluent(self) -> dict[str, str]:
        """Return the settings of confluent-kafka's SchemaRegistryClient."""
        found = {
            "url": ",".join(self.urls),
            "ssl.ca.location": self.ca_file,
            "ssl.certificate.location": self.cert_file,
            "ssl.key.location": self.key_file,
            "ssl.key.password": self.key_password,
        }
        if self.username is not None:
            found["basic.auth.user.info"] = f"{self.username}:{self.password or ''}"
        if self.token is not None:
            found["bearer.auth.credentials.source"] = "STATIC_TOKEN"
            found["bearer.auth.token"] = self.token
        return {name: value for name, value in found.items() if value is not None}

    def authorization(
        self, username: str | None = None, password: str | None = None
    ) -> dict[str, str]:
        """Return the header that lets a request in; a name in an address goes first."""
        if username is None:
            username, password = self.username, self.password
        if username is not None:
            import base64

            credentials = base64.b64encode(f"{username}:{password or ''}".encode()).decode()
            return {"Authorization": f"Basic {credentials}"}
        return {} if self.token is None else {"Authorization": f"Bearer {self.token}"}

    def tls(self) -> ssl.SSLContext:
        """Return whom to trust and how to show who we are; raises InvalidPropertiesError."""
        import ssl  # takes a while, which plain HTTP should not cost

        try:
            tls = ssl.create_default_context(cafile=self.ca_file)
            if self.cert_file is not None:
                tls.load_cert_chain(self.cert_file, self.key_file, self.key_password)
        except OSError as failure:
            files = [name for name in (self.ca_file, self.cert_file, self.key_file) if name]
            raise InvalidPropertiesError(
                f"the registry's certificates cannot be read from {', '.join(files)}: "
                f"{failure.strerror or failure}"
            ) from failure
        tls.check_hostname = self.verify and self.check_host
        if not self.verify:
            tls.verify_mode = ssl.CERT_NONE
        return tls


def split_urls(url: str | Iterable[str]) -> tuple[str, ...]:
    """Return the addresses in a comma-separated text or a list."""
    parts = url.split(",") if isinstance(url, str) else list(url)
    urls = tuple(part.strip() for part in parts if part.strip())
    if not urls:
        raise InvalidPropertiesError("no address of a registry was given")
    return urls


def _with_credentials(access: RegistryAccess, named: dict[str, str]) -> RegistryAccess:
    """Take the credentials out of the properties."""
    source = named.pop("basic.auth.credentials.source", "USER_INFO").upper()
    user_info = named.pop("basic.auth.user.info", None)
    if source not in ("USER_INFO", "URL"):
        raise InvalidPropertiesError(
            f"basic.auth.credentials.source={source}: USER_INFO and URL are understood, and "
            "SASL_INHERIT in a file with sasl.username and sasl.password"
        )
    if user_info is not None and source == "USER_INFO":
        name, colon, password = user_info.partition(":")
        if not colon:
            raise InvalidPropertiesError("basic.auth.user.info is not of the form USER:PASSWORD")
        access = replace(access, username=name, password=password)
    source = named.pop("bearer.auth.credentials.source", "STATIC_TOKEN").upper()
    if source != "STATIC_TOKEN":
        raise InvalidPropertiesError(
            f"bearer.auth.credentials.source={source}: only STATIC_TOKEN is understood"
        )
    return replace(access, token=named.pop("bearer.auth.token", None))


# As confluent-kafka has them, and as Java's clients have them for stores in PEM.
_FILES = {
    "ssl.ca.location": "ca_file",
    "ssl.certificate.location": "cert_file",
    "ssl.key.location": "key_file",
    "ssl.key.password": "key_password",
    "ssl.truststore.location": "ca_file",
    "ssl.keystore.location": "cert_file",
}


def _with_certificates(access: RegistryAccess, named: dict[str, str]) -> RegistryAccess:
    for store in ("ssl.truststore", "ssl.keystore"):
        kind = named.pop(f"{store}.type", "JKS").upper()
        named.pop(f"{store}.password", None)
        if f"{store}.location" in named and kind != "PEM":
            raise InvalidPropertiesError(
                f"{store}.location: a {kind} store can be read by a JVM only. Export it as PEM, "
                f"and set {store}.type=PEM"
            )
    if named.pop("ssl.endpoint.identification.algorithm", "https").lower() in ("", "none"):
        access = replace(access, check_host=False)
    unknown = sorted(named.keys() - _FILES.keys())
    if unknown:
        known = ("url", "basic.auth.user.info", "bearer.auth.token", *_FILES)
        raise InvalidPropertiesError(
            f"there is no setting {PREFIX}{unknown[0]} of a registry's client; there are "
            f"{', '.join(known)}"
        )
    files: dict[str, Any] = {_FILES[name]: value for name, value in named.items()}
    return replace(access, **files)
