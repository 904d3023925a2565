"""Real clients over TLS: with and without certificates of their own, and as certificates change."""

from __future__ import annotations

import socket
import ssl
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)
from tests.certificates import DAY, Authority
from tests.integration.scrape import Metrics
from tests.integration.secured_clients import CLIENT_NAMES, CLIENTS, Access
from tests.secured_broker import SecuredBroker
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LISTENERS = {"SSL": "SSL", "MTLS": "SSL"}
HALF_OPEN = 300


class World(NamedTuple):
    """A broker, and the files of its clients."""

    broker: SecuredBroker
    authority: Authority
    folder: Path

    @property
    def trusted(self) -> Path:
        return self.folder / "authority.pem"

    def access(self, listener: str) -> Access:
        shown = self.folder / "ann.pem" if listener == "MTLS" else None
        return Access(self.broker.address(listener), "SSL", self.trusted, shown)

    def serial(self) -> int:
        """Of the certificate that the broker shows now."""
        context = ssl.create_default_context(cafile=str(self.trusted))
        with (
            socket.create_connection(("127.0.0.1", self.broker.port_of("SSL"))) as sock,
            context.wrap_socket(sock, server_hostname="127.0.0.1") as wrapped,
        ):
            shown = wrapped.getpeercert()
            assert shown is not None
            return int(str(shown["serialNumber"]), 16)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("tls")
    authority = Authority()
    (folder / "authority.pem").write_text(authority.certificate)
    (folder / "broker.p12").write_bytes(authority.issue("CN=broker").pkcs12("secret", authority))
    authority.issue("CN=Ann,O=plant").write(folder / "ann.pem")
    mutual = authority.issue("CN=mutual")
    broker = SecuredBroker(
        folder / "data",
        LISTENERS,
        {
            "ssl.keystore.location": str(folder / "broker.p12"),
            "ssl.keystore.password": "secret",
            "headwater.certificates.check.interval.ms": "50",
            "listener.name.mtls.ssl.keystore.key": mutual.encrypted_key("other"),
            "listener.name.mtls.ssl.keystore.certificate.chain": mutual.certificate,
            "listener.name.mtls.ssl.key.password": "other",
            "listener.name.mtls.ssl.keystore.type": "PEM",
            "listener.name.mtls.ssl.truststore.location": str(folder / "authority.pem"),
            "listener.name.mtls.ssl.truststore.type": "PEM",
            "listener.name.mtls.ssl.client.auth": "required",
            "listener.name.mtls.ssl.principal.mapping.rules": "RULE:^CN=(.*?),.*$/$1/L,DEFAULT",
        },
    )
    broker.start()
    yield World(broker, authority, folder)
    broker.stop()


@pytest.mark.parametrize("client", CLIENT_NAMES)
@pytest.mark.parametrize("listener", LISTENERS)
def test_a_client_writes_and_reads(world: World, client: str, listener: str, topic: str) -> None:
    value = client.encode() * 3000
    assert CLIENTS[client](world.access(listener), topic, value) == value


def test_the_log_and_the_metrics_tell_who_comes_in(world: World) -> None:
    context = ssl.create_default_context(cafile=str(world.trusted))
    context.load_cert_chain(world.folder / "ann.pem")
    with (
        socket.create_connection(("127.0.0.1", world.broker.port_of("MTLS"))) as sock,
        context.wrap_socket(sock, server_hostname="127.0.0.1") as wrapped,
    ):
        wrapped.sendall(b"\0\0\0\4junk")
        assert world.broker.says("(User:ann)")
    with socket.create_connection(("127.0.0.1", world.broker.port_of("SSL"))) as sock:
        sock.sendall(b"\0\0\0\4junk")
        assert world.broker.says("it speaks plain text, and this listener speaks TLS")
    metrics = Metrics(world.broker)
    prefix = "kafka_server_socket_server_metrics"
    assert metrics.value(f"{prefix}_successful_authentication_total", listener="MTLS") >= 1
    assert metrics.value(f"{prefix}_failed_authentication_total", listener="SSL") >= 1
    expiry = metrics.value("headwater_broker_certificate_expiry_timestamp_seconds", listener="SSL")
    assert 99 < (expiry - time.time()) / 86_400 < 101
    assert "secret" not in world.broker.text


@pytest.mark.needs("openssl")
def test_openssl_sees_two_versions_and_the_whole_chain(world: World) -> None:
    def probe(*options: str) -> str:
        line = ["openssl", "s_client", "-connect", world.broker.address("SSL"), *options]
        line += ["-CAfile", str(world.trusted), "-showcerts"]
        done = subprocess.run(line, input="", capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    for version in ("1_2", "1_3"):
        said = probe(f"-tls{version}")
        assert f"TLSv1.{version[-1]}" in said
        assert "Verify return code: 0 (ok)" in said
        assert said.count("BEGIN CERTIFICATE") >= 2
    old = probe("-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0")
    assert "no peer certificate available" in old
    assert world.broker.says("it offers only versions of TLS that are older than those served")


def alter(world: World, path: Path) -> None:
    """Tell the broker where its certificates are now."""
    entry = ConfigEntry(
        "listener.name.ssl.ssl.keystore.location",
        str(path),
        incremental_operation=AlterConfigOpType.SET,
    )
    resource = ConfigResource(ResourceType.BROKER, "1", incremental_configs=[entry])
    admin = AdminClient(world.access("MTLS").librdkafka())
    (done,) = admin.incremental_alter_configs([resource]).values()
    done.result(60)


def test_new_certificates_are_taken_over_or_refused(world: World) -> None:
    first = world.serial()
    renewed = world.folder / "renewed.p12"
    renewed.write_bytes(world.authority.issue("CN=broker").pkcs12("secret", world.authority))
    alter(world, renewed)
    second = world.serial()
    assert second != first
    bad = world.folder / "expired.p12"
    expired = world.authority.issue("CN=broker", ends=-DAY / 2)
    bad.write_bytes(expired.pkcs12("secret", world.authority))
    with pytest.raises(KafkaException, match="expired") as refusal:
        alter(world, bad)
    assert refusal.value.args[0].code() == KafkaError.INVALID_REQUEST
    assert world.serial() == second
    # A file that is replaced where it lies is found without anybody's word.
    newer = world.folder / "newer.p12"
    newer.write_bytes(world.authority.issue("CN=broker").pkcs12("secret", world.authority))
    newer.replace(renewed)
    wait_for(world.serial, until=lambda serial: serial != second)


def test_handshakes_that_go_nowhere_end_and_cost_little(tmp_path: Path) -> None:
    authority = Authority()
    (tmp_path / "authority.pem").write_text(authority.certificate)
    store = authority.issue("CN=broker").write(tmp_path / "broker.pem")
    broker = SecuredBroker(
        tmp_path / "data",
        {"SSL": "SSL"},
        {"ssl.keystore.location": str(store), "headwater.authentication.timeout.ms": "2000"},
    ).start()
    context = ssl.create_default_context(cafile=str(tmp_path / "authority.pem"))
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing, server_hostname="127.0.0.1").do_handshake()
    hello = outgoing.read()
    before = broker.rss
    address = ("127.0.0.1", broker.port_of("SSL"))
    half_open = [socket.create_connection(address) for _ in range(2 * HALF_OPEN)]
    try:
        for sock in half_open[:HALF_OPEN]:
            sock.sendall(hello)
        count = "kafka_server_socket_server_metrics_connection_count"
        wait_for(lambda: Metrics(broker).value(count, listener="SSL"), until=lambda n: n == 0)
    finally:
        for sock in half_open:
            sock.close()
    assert broker.says("took too long to say who it is")
    assert broker.rss - before < HALF_OPEN * 100_000
    broker.stop()
