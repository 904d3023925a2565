"""Client settings in the words of Java's clients and in those of librdkafka."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.clients.errors import InvalidPropertiesError
from headwater.config.references import References, UnresolvedReferenceError

if TYPE_CHECKING:
    from collections.abc import Mapping


def to_librdkafka(properties: Mapping[str, str]) -> dict[str, str]:
    """Rename what the Java client spells differently, and drop what only a JVM can use.

    References to secrets are resolved; raises InvalidPropertiesError.
    """
    properties = resolved(properties)
    settings: dict[str, str] = {}
    for name, value in properties.items():
        if name in _ONLY_JVM:
            continue
        if name == "sasl.jaas.config":
            settings.update(_credentials(value))
        elif name in ("ssl.truststore.location", "ssl.keystore.location"):
            settings.update(_store(name, value, properties))
        elif name == "ssl.endpoint.identification.algorithm":
            settings[name] = value or "none"
        else:
            settings[_RENAMED.get(name, name)] = value
    return settings


def to_java(properties: Mapping[str, str]) -> dict[str, str]:
    """Rename what librdkafka spells differently; what neither knows stays as it is.

    References to secrets are resolved. Raises InvalidPropertiesError for what Java's clients cannot
    do.

    >>> to_java({"sasl.mechanisms": "PLAIN", "linger.ms": "5"})
    {'sasl.mechanism': 'PLAIN', 'linger.ms': '5'}
    """
    properties = resolved(properties)
    settings = {
        _JAVA_NAMES.get(name, name): value
        for name, value in properties.items()
        if name not in _ONLY_LIBRDKAFKA
    }
    user, password = properties.get("sasl.username"), properties.get("sasl.password")
    if user is not None and password is not None and "sasl.jaas.config" not in settings:
        mechanism = settings.get("sasl.mechanism", "PLAIN")
        module = _LOGIN_MODULES["SCRAM" if mechanism.startswith("SCRAM") else "PLAIN"]
        settings["sasl.jaas.config"] = (
            f"{module} required username={_quoted(user)} password={_quoted(password)};"
        )
    return settings | _java_tls(properties)


def resolved(properties: Mapping[str, str]) -> dict[str, str]:
    """Return properties with what their references stand for; raises InvalidPropertiesError."""
    try:
        return References().resolve_all(properties)
    except UnresolvedReferenceError as failure:
        raise InvalidPropertiesError(str(failure)) from None


_TOKEN = re.compile(r"\btokenauth\s*=\s*\"?true", re.IGNORECASE)
_CREDENTIAL = re.compile(r"""\b(username|password)\s*=\s*(?:"((?:\\.|[^"\\])*)"|'([^']*)')""")

_RENAMED = {
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
}
_ONLY_JVM = frozenset(
    {
        "key.serializer",
        "value.serializer",
        "key.deserializer",
        "value.deserializer",
        "interceptor.classes",
        "metric.reporters",
        "ssl.truststore.type",
        "ssl.truststore.password",
        "ssl.keystore.type",
        "ssl.protocol",
        "ssl.enabled.protocols",
        "sasl.client.callback.handler.class",
        "sasl.login.callback.handler.class",
    }
)


_JAVA_NAMES = {
    "sasl.mechanisms": "sasl.mechanism",
    **{theirs: java for java, theirs in _RENAMED.items()},
}
_VERIFICATION = "enable.ssl.certificate.verification"
_ONLY_LIBRDKAFKA = frozenset(
    {
        _VERIFICATION,
        "sasl.username",
        "sasl.password",
        "ssl.ca.location",
        "ssl.certificate.location",
        "ssl.key.location",
    }
)
_LOGIN_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM": "org.apache.kafka.common.security.scram.ScramLoginModule",
}


def _java_tls(properties: Mapping[str, str]) -> dict[str, str]:
    if properties.get(_VERIFICATION, "true").lower() == "false":
        raise InvalidPropertiesError(
            f"{_VERIFICATION}=false: Java's clients always verify. Say whom to trust with "
            "ssl.ca.location; ssl.endpoint.identification.algorithm=none leaves only the host's "
            "name unchecked"
        )
    settings: dict[str, str] = {}
    if authority := properties.get("ssl.ca.location"):
        settings |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": authority}
    elif "ssl.ca.pem" in properties:
        settings["ssl.truststore.type"] = "PEM"
    chain, key = _pem("ssl.certificate", properties), _pem("ssl.key", properties)
    if chain and key:
        settings |= {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": chain,
            "ssl.keystore.key": key,
        }
    if properties.get("ssl.endpoint.identification.algorithm") == "none":
        settings["ssl.endpoint.identification.algorithm"] = ""
    return settings


def _pem(name: str, properties: Mapping[str, str]) -> str | None:
    path = properties.get(f"{name}.location")
    if path is None:
        return properties.get(f"{name}.pem")
    try:
        return Path(path).read_text("utf-8")
    except OSError as failure:
        raise InvalidPropertiesError(f"{name}.location: {path}: {failure.strerror}") from None


def _quoted(text: str) -> str:
    escaped = text.replace("\\", r"\\").replace('"', r"\"")
    return f'"{escaped}"'


def _credentials(jaas: str) -> dict[str, str]:
    if "OAuthBearer" in jaas:
        return {}
    if _TOKEN.search(jaas):
        raise InvalidPropertiesError(
            "sasl.jaas.config: librdkafka cannot log in with a delegation token (tokenauth). "
            "Java's clients can"
        )
    found = {
        match[1]: re.sub(r"\\(.)", r"\1", match[2]) if match[2] is not None else match[3]
        for match in _CREDENTIAL.finditer(jaas)
    }
    if found.keys() != {"username", "password"}:
        raise InvalidPropertiesError(
            "sasl.jaas.config: no username and password in it. "
            "Only PlainLoginModule and ScramLoginModule are understood; "
            "sasl.username and sasl.password work as well"
        )
    return {f"sasl.{name}": value for name, value in found.items()}


def _store(name: str, value: str, properties: Mapping[str, str]) -> dict[str, str]:
    store = name.split(".")[1]
    kind = properties.get(f"ssl.{store}.type", "JKS").upper()
    if kind == "PEM" and store == "truststore":
        return {"ssl.ca.location": value}
    if kind == "PEM":
        return {"ssl.certificate.location": value, "ssl.key.location": value}
    if kind == "PKCS12" and store == "keystore":
        return {"ssl.keystore.location": value}
    raise InvalidPropertiesError(
        f"{name}: a {kind} {store} can be read by a JVM only. Export it as PEM and set "
        + (
            "ssl.ca.location"
            if store == "truststore"
            else "ssl.certificate.location, ssl.key.location"
        )
    )
