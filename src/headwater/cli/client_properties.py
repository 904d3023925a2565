"""Client properties files: Java's notation and names, turned into librdkafka's settings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class InvalidPropertiesError(ValueError):
    """A properties file cannot be used; the message says which line or name, and why."""


def read_client_properties(path: Path) -> dict[str, str]:
    """Return the librdkafka settings that a Java client's properties file asks for."""
    return to_librdkafka(read_properties(path))


def read_properties(path: Path) -> dict[str, str]:
    """Parse a Java `.properties` file: comments, continued lines, `=`, `:` or blank between."""
    properties: dict[str, str] = {}
    for number, line in _logical_lines(path.read_text(encoding="utf-8")):
        match = _ENTRY.match(line)
        assert match is not None, f"line {number} is blank or a comment"
        name = _unescape(match["name"])
        if not name:
            raise InvalidPropertiesError(f"{path}, line {number}: a name is missing")
        properties[name] = _unescape(match["value"])
    return properties


def to_librdkafka(properties: Mapping[str, str]) -> dict[str, str]:
    """Rename what the Java client spells differently, and drop what only a JVM can use."""
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


_ENTRY = re.compile(r"(?P<name>(?:\\.|[^\\=:\s])*)\s*[=:]?\s*(?P<value>.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
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


def _logical_lines(text: str) -> list[tuple[int, str]]:
    lines: list[tuple[int, str]] = []
    pending = ""
    start = 0
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.lstrip()
        if not pending:
            start = number
            if not line or line[0] in "#!":
                continue
        # An odd number of backslashes at the end continues the line; pairs are backslashes.
        if (len(line) - len(line.rstrip("\\"))) % 2:
            pending += line[:-1]
            continue
        lines.append((start, pending + line))
        pending = ""
    if pending:
        lines.append((start, pending))
    return lines


def _unescape(text: str) -> str:
    named = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}

    def replace(match: re.Match[str]) -> str:
        escaped = match[1]
        if len(escaped) == 5:
            return chr(int(escaped[1:], 16))
        return named.get(escaped, escaped)

    return _ESCAPE.sub(replace, text)


def _credentials(jaas: str) -> dict[str, str]:
    if "OAuthBearer" in jaas:
        return {}
    found = {
        match[1]: _ESCAPE.sub(r"\1", match[2]) if match[2] is not None else match[3]
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
