"""Java client properties become librdkafka settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.cli.options.client_properties import read_client_properties
from headwater.clients import InvalidPropertiesError
from headwater.clients.settings import to_java, to_librdkafka

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_with_continued_lines_and_comments(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(
        "# how to get in\n"
        "security.protocol = SASL_SSL\n"
        "sasl.mechanism: SCRAM-SHA-512\n"
        "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\\n"
        '    username="alice" \\\n'
        '    password="a \\"quoted\\" secret";\n',
    )
    of_kafka, of_registry = read_client_properties(file)
    assert of_registry == {}
    assert to_librdkafka(of_kafka) == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "alice",
        # A properties file eats one level of backslashes, so the quotes end at the first one.
        "sasl.password": "a ",
    }


def test_escaped_quotes_in_a_password() -> None:
    jaas = r'PlainLoginModule required username="u" password="a\"b\\c";'
    assert to_librdkafka({"sasl.jaas.config": jaas})["sasl.password"] == 'a"b\\c'


def test_what_only_a_jvm_can_use_is_dropped() -> None:
    assert to_librdkafka({"key.serializer": "a.b.C", "interceptor.classes": "", "acks": "1"}) == {
        "acks": "1"
    }


def test_stores() -> None:
    assert to_librdkafka(
        {
            "ssl.truststore.location": "ca.pem",
            "ssl.truststore.type": "PEM",
            "ssl.keystore.location": "me.p12",
            "ssl.keystore.type": "PKCS12",
            "ssl.keystore.password": "secret",
            "ssl.endpoint.identification.algorithm": "",
        }
    ) == {
        "ssl.ca.location": "ca.pem",
        "ssl.keystore.location": "me.p12",
        "ssl.keystore.password": "secret",
        "ssl.endpoint.identification.algorithm": "none",
    }


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"ssl.truststore.location": "ca.jks"}, "Export it as PEM and set ssl.ca.location"),
        ({"ssl.keystore.location": "me.jks"}, "ssl.certificate.location"),
        ({"sasl.jaas.config": "Krb5LoginModule required;"}, "no username and password"),
    ],
)
def test_what_cannot_be_translated_says_what_to_do(
    properties: dict[str, str], message: str
) -> None:
    with pytest.raises(InvalidPropertiesError, match=message):
        to_librdkafka(properties)


def test_what_is_written_for_librdkafka_works_for_java(tmp_path: Path) -> None:
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
    chain.write_text("CHAIN")
    key.write_text("KEY")
    settings = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanisms": "SCRAM-SHA-512",
        "sasl.username": "bob",
        "sasl.password": r'a "b" \c',
        "ssl.ca.location": "ca.pem",
        "ssl.certificate.location": str(chain),
        "ssl.key.location": str(key),
        "linger.ms": "5",
    }
    java = to_java(settings)
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    assert java == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": rf'{module} required username="bob" password="a \"b\" \\c";',
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": "ca.pem",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": "CHAIN",
        "ssl.keystore.key": "KEY",
        "linger.ms": "5",
    }
    assert to_java(java) == java
    back = to_librdkafka(java)
    assert back["sasl.password"] == settings["sasl.password"]
    assert back["ssl.ca.location"] == "ca.pem"


def test_certificates_in_the_settings_themselves_work_for_java(tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    key.write_text("KEY")
    java = to_java(
        {
            "ssl.ca.pem": "CA",
            "ssl.certificate.pem": "CHAIN",
            "ssl.key.location": str(key),
            "ssl.key.password": "secret",
            "ssl.endpoint.identification.algorithm": "none",
            "enable.ssl.certificate.verification": "true",
        }
    )
    assert java == {
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": "CA",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": "CHAIN",
        "ssl.keystore.key": "KEY",
        "ssl.key.password": "secret",
        "ssl.endpoint.identification.algorithm": "",
    }
    assert to_java(java) == java
    assert to_librdkafka(java) == {
        "ssl.ca.pem": "CA",
        "ssl.certificate.pem": "CHAIN",
        "ssl.key.pem": "KEY",
        "ssl.key.password": "secret",
        "ssl.endpoint.identification.algorithm": "none",
    }


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"enable.ssl.certificate.verification": "false"}, "Java's clients always verify"),
        (
            {"ssl.certificate.location": "nowhere.pem", "ssl.key.pem": "KEY"},
            "ssl.certificate.location: nowhere.pem: No such file",
        ),
    ],
)
def test_what_java_cannot_do_says_what_to_do(properties: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidPropertiesError, match=message):
        to_java(properties)
