"""Properties files as text: what brokers and clients are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.security.kit import SecurityKit, UserFiles

LISTENER = "SASL_SSL"
SCRAM = "SCRAM-SHA-512"
PLAIN = "PLAIN"
_FOR_USERS = f"{SCRAM},SCRAM-SHA-256"

_MODULES = {
    SCRAM: "org.apache.kafka.common.security.scram.ScramLoginModule",
    PLAIN: "org.apache.kafka.common.security.plain.PlainLoginModule",
}


def properties_text(settings: Mapping[str, str], comment: str) -> str:
    r"""Write a properties file.

    >>> properties_text({"a": "C:\\x"}, "mine")
    '# mine\na=C:\\\\x\n'
    """
    lines = [f"# {comment}"]
    lines += [f"{name}={value}".replace("\\", "\\\\") for name, value in settings.items()]
    return "\n".join([*lines, ""])


def broker_settings(kit: SecurityKit, super_users: Sequence[str]) -> dict[str, str]:
    """Return what makes a broker's listener SASL_SSL safe, but for where it listens."""
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(kit.broker_store),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(kit.authority),
        "ssl.principal.mapping.rules": "RULE:^CN=([^,]*).*$/$1/,DEFAULT",
        "sasl.enabled.mechanisms": _FOR_USERS,
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": ";".join(f"User:{name}" for name in super_users),
        "headwater.bootstrap.file": str(kit.beginning),
    }


def plain_users(users: Sequence[UserFiles]) -> dict[str, str]:
    """Return the broker's settings by which services log in; they have references to passwords."""
    listed = " ".join(f'user_{each.name}="{each.password_reference}"' for each in users)
    name = f"listener.name.{LISTENER.lower()}.plain.sasl.jaas.config"
    return {
        "sasl.enabled.mechanisms": f"{_FOR_USERS},{PLAIN}",
        name: f"{_MODULES[PLAIN]} required {listed};",
    }


def java_properties(
    kit: SecurityKit, user: UserFiles, password: str, mechanism: str
) -> dict[str, str]:
    """Return client properties for Java's clients, and the registry's for its serialisers."""
    module = _MODULES[mechanism]
    return {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": f'{module} required username="{user.name}" password="{password}";',
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(kit.authority),
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.location": str(user.store),
        "ssl.keystore.password": password,
        "ssl.key.password": password,
        "schema.registry.basic.auth.credentials.source": "USER_INFO",
        "schema.registry.basic.auth.user.info": f"{user.name}:{password}",
        "schema.registry.ssl.truststore.type": "PEM",
        "schema.registry.ssl.truststore.location": str(kit.authority),
    }


def librdkafka_properties(
    kit: SecurityKit, user: UserFiles, password: str, mechanism: str
) -> dict[str, str]:
    """Return client properties for librdkafka."""
    return {
        "security.protocol": "SASL_SSL",
        "sasl.mechanisms": mechanism,
        "sasl.username": user.name,
        "sasl.password": password,
        "ssl.ca.location": str(kit.authority),
        "ssl.certificate.location": str(user.certificate),
        "ssl.key.location": str(user.key),
    }
