"""Properties files that tell a client of the cluster and of the registry alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.clients.errors import InvalidPropertiesError
from headwater.clients.registry_access import PREFIX
from headwater.clients.settings import to_librdkafka

if TYPE_CHECKING:
    from collections.abc import Mapping

# Kafka's clients have no such names, so Confluent's serialisers take them without a prefix.
_OF_THE_REGISTRY = (PREFIX, "basic.auth.", "bearer.auth.")
_SOURCE = "basic.auth.credentials.source"


def split_properties(properties: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return what is meant for the cluster's clients, and what for the registry's.

    >>> split_properties({"linger.ms": "5", "schema.registry.url": "http://sr:8081"})
    ({'linger.ms': '5'}, {'schema.registry.url': 'http://sr:8081'})
    """
    of_kafka: dict[str, str] = {}
    of_registry: dict[str, str] = {}
    for name, value in properties.items():
        (of_registry if name.startswith(_OF_THE_REGISTRY) else of_kafka)[name] = value
    # With the prefix it is meant for this registry alone.
    for name in [name for name in of_registry if PREFIX + name in of_registry]:
        del of_registry[name]
    for name in (_SOURCE, PREFIX + _SOURCE):
        if of_registry.get(name, "").upper() == "SASL_INHERIT":
            of_registry[name] = "USER_INFO"
            of_registry[PREFIX + "basic.auth.user.info"] = _sasl_user(of_kafka)
    return of_kafka, of_registry


def _sasl_user(of_kafka: Mapping[str, str]) -> str:
    of_sasl = {name: value for name, value in of_kafka.items() if name.startswith("sasl.")}
    found = to_librdkafka(of_sasl)
    if not {"sasl.username", "sasl.password"} <= found.keys():
        raise InvalidPropertiesError(
            f"{_SOURCE}=SASL_INHERIT: there is no user name and password of SASL to take over"
        )
    return f"{found['sasl.username']}:{found['sasl.password']}"
