"""Who connects to a cluster and to a registry, in the words of every client library."""

from __future__ import annotations

import pickle

import pytest

from headwater.clients import ClusterAccess, InvalidPropertiesError, RegistryAccess
from headwater.clients.programs import (
    CommandLine,
    cluster_access,
    given,
    registry_access,
)
from headwater.clients.shared_properties import split_properties

_JAAS = 'org.apache.kafka.PlainLoginModule required username="ada" password="secret";'


def test_a_cluster_in_the_words_of_both_libraries() -> None:
    access = ClusterAccess.of(
        {"bootstrap.servers": "kafka:1", "sasl.mechanisms": "PLAIN", "sasl.jaas.config": _JAAS}
    )
    assert access.bootstrap_servers == "kafka:1"
    assert access.librdkafka() == {
        "bootstrap.servers": "kafka:1",
        "sasl.mechanisms": "PLAIN",
        "sasl.username": "ada",
        "sasl.password": "secret",
    }
    assert access.java() == {
        "bootstrap.servers": "kafka:1",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": _JAAS,
    }
    assert ClusterAccess.of({"bootstrap.servers": "kafka:1"}, "given:2") == ClusterAccess("given:2")


def test_an_admin_client_is_told_what_lets_it_in_and_nothing_else() -> None:
    of_java = {"max.block.ms": "5", "security.protocol": "SSL", "client.id": "me"}
    assert ClusterAccess("kafka:1", of_java).for_admin() == ClusterAccess(
        "kafka:1", {"security.protocol": "SSL", "client.id": "me"}
    )


def test_keys_go_where_javas_clients_put_them_unless_the_user_says_otherwise() -> None:
    assert ClusterAccess().producer()["partitioner"] == "murmur2_random"
    chosen = ClusterAccess(properties={"partitioner": "consistent"}).producer()
    assert chosen["partitioner"] == "consistent"


def test_a_registry_by_confluents_names() -> None:
    access = RegistryAccess.of(
        {
            "schema.registry.url": "https://one:1, https://two:2",
            "basic.auth.credentials.source": "USER_INFO",
            "schema.registry.basic.auth.user.info": "ada:se:cret",
            "schema.registry.ssl.truststore.type": "PEM",
            "schema.registry.ssl.truststore.location": "ca.pem",
            "schema.registry.ssl.certificate.location": "me.pem",
            "schema.registry.ssl.key.location": "me.key",
        }
    )
    assert access == RegistryAccess(
        ("https://one:1", "https://two:2"),
        username="ada",
        password="se:cret",
        ca_file="ca.pem",
        cert_file="me.pem",
        key_file="me.key",
    )
    assert RegistryAccess.of(access.java()) == access
    assert RegistryAccess.of(access.confluent()) == access
    assert access.java()["schema.registry.basic.auth.credentials.source"] == "USER_INFO"
    assert pickle.loads(pickle.dumps(access)) == access


def test_what_a_registrys_requests_carry() -> None:
    basic = RegistryAccess.of({"basic.auth.user.info": "ada:secret"})
    assert basic.authorization() == {"Authorization": "Basic YWRhOnNlY3JldA=="}
    assert basic.authorization("bob", "") == {"Authorization": "Basic Ym9iOg=="}
    token = RegistryAccess.of({"bearer.auth.token": "t"})
    assert token.authorization() == {"Authorization": "Bearer t"}
    assert RegistryAccess.of({}).authorization() == {}


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ({"schema.registry.no.such": "1"}, "no setting schema.registry.no.such"),
        ({"basic.auth.user.info": "ada"}, "USER:PASSWORD"),
        ({"basic.auth.credentials.source": "SASL_INHERIT"}, "SASL_INHERIT in a file with"),
        ({"bearer.auth.credentials.source": "OAUTHBEARER"}, "only STATIC_TOKEN"),
        ({"ssl.truststore.location": "trust.jks"}, "JKS store can be read by a JVM only"),
    ],
)
def test_what_no_registrys_client_can_do_is_refused(
    properties: dict[str, str], reason: str
) -> None:
    with pytest.raises(InvalidPropertiesError, match=reason):
        RegistryAccess.of(properties)


def test_certificates_that_are_not_there_are_named() -> None:
    with pytest.raises(InvalidPropertiesError, match=r"gone\.pem: No such file"):
        RegistryAccess(("https://sr",), ca_file="gone.pem").tls()


def test_one_file_for_the_cluster_and_the_registry() -> None:
    of_kafka, of_registry = split_properties(
        {
            "sasl.jaas.config": _JAAS,
            "ssl.ca.location": "kafka.pem",
            "schema.registry.url": "http://sr:1",
            "schema.registry.ssl.ca.location": "sr.pem",
            "basic.auth.credentials.source": "SASL_INHERIT",
        }
    )
    assert of_kafka == {"sasl.jaas.config": _JAAS, "ssl.ca.location": "kafka.pem"}
    assert RegistryAccess.of(of_registry) == RegistryAccess(
        ("http://sr:1",), username="ada", password="secret", ca_file="sr.pem"
    )
    with pytest.raises(InvalidPropertiesError, match="no user name and password of SASL"):
        split_properties({"basic.auth.credentials.source": "SASL_INHERIT"})


def test_the_command_line_wins_while_a_program_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_REGISTRY", "http://environment:1")
    monkeypatch.setenv("HEADWATER_REGISTRY_USER", "ada:secret")
    line = CommandLine("given:1", {"client.id": "given"}, {"schema.registry.url": "http://given:1"})
    with given(line):
        assert cluster_access("programs:1", {"client.id": "programs", "a": "b"}) == ClusterAccess(
            "given:1", {"client.id": "given", "a": "b"}
        )
        assert registry_access("http://programs:1").urls == ("http://given:1",)
    assert cluster_access("programs:1").bootstrap_servers == "programs:1"
    assert registry_access("http://programs:1") == RegistryAccess(
        ("http://programs:1",), username="ada", password="secret"
    )
    assert registry_access().urls == ("http://environment:1",)


def test_secrets_by_reference_are_resolved_when_a_client_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET", "pa:ss")
    cluster = ClusterAccess("kafka:1", {"sasl.username": "ada", "sasl.password": "${env:SECRET}"})
    assert "pa:ss" not in repr(pickle.loads(pickle.dumps(cluster)))
    assert cluster.librdkafka()["sasl.password"] == "pa:ss"
    assert 'password="pa:ss"' in cluster.java()["sasl.jaas.config"]
    registry = RegistryAccess.of({"basic.auth.user.info": "ada:${env:SECRET}"})
    assert (registry.username, registry.password) == ("ada", "pa:ss")
    with pytest.raises(InvalidPropertiesError, match=r"sasl.password: \$\{env:NOBODY\}: "):
        ClusterAccess("kafka:1", {"sasl.password": "${env:NOBODY}"}).librdkafka()
