"""Both engines with locked doors: the same certificates, users, ACLs and token key."""

from __future__ import annotations

import contextlib
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from tests.certificates import DAY, Authority
from tests.integration.raw_client import RawClient
from tests.integration.secured_clients import Access
from tests.secured_broker import SecuredBroker

from headwater.cluster import KafkaCluster, NodeOptions
from headwater.processes.ports import FreePorts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

LISTENERS = ("SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
PASSWORDS = {"ann": "ann, her secret", "bob": "bob's"}
TOKEN_KEY = "the key of both"
_JAAS = "org.apache.kafka.common.security.{}LoginModule required{};"


@dataclass
class Listening:
    """One listener, as a raw client takes it."""

    port: int
    output: list[str]


class Secured:
    """One engine, by whose plain listener an operator may do everything."""

    def __init__(self, name: str, folder: Path, port_of: Callable[[str], int]) -> None:
        self.name = name
        self.folder = folder
        self.port_of = port_of
        self.admin = AdminClient({"bootstrap.servers": self.address("PLAINTEXT")})

    def address(self, listener: str) -> str:
        return f"127.0.0.1:{self.port_of(listener)}"

    def raw(self, listener: str, context: ssl.SSLContext | None = None) -> RawClient:
        client = RawClient(Listening(self.port_of(listener), []))
        if context is not None:
            client.socket = context.wrap_socket(client.socket, server_hostname="127.0.0.1")
        return client

    def tls(self, certificate: str | None = None) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=str(self.folder / "authority.pem"))
        if certificate is not None:
            context.load_cert_chain(self.folder / f"{certificate}.pem")
        return context

    def access(self, user: str, mechanism: str = "SCRAM-SHA-512") -> dict[str, Any]:
        """What librdkafka needs to log in within TLS."""
        return Access(
            self.address("SASL_SSL"), "SASL_SSL", self.folder / "authority.pem",
            mechanism=mechanism, user=user, password=PASSWORDS[user],
        ).librdkafka()  # fmt: skip


def write_certificates(folder: Path) -> None:
    """An authority, the brokers' key, and clients' of all kinds, good and bad."""
    authority, stranger = Authority(), Authority("stranger")
    (folder / "authority.pem").write_text(authority.certificate)
    authority.issue("CN=broker").write(folder / "broker.pem")
    authority.issue("CN=Carol,O=plant").write(folder / "carol.pem")
    authority.issue("CN=Dave", starts=-2 * DAY, ends=-DAY).write(folder / "expired.pem")
    stranger.issue("CN=Carol,O=plant").write(folder / "stranger.pem")
    stranger.issued.write(folder / "self-signed.pem")


def settings(folder: Path) -> dict[str, str]:
    """What both brokers are told, but for their listeners' addresses."""
    users = "".join(f' user_{user}="{password}"' for user, password in PASSWORDS.items())
    told = {
        "sasl.enabled.mechanisms": ",".join(MECHANISMS),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "broker.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(folder / "authority.pem"),
        "listener.name.ssl.ssl.client.auth": "required",
        "listener.name.ssl.ssl.principal.mapping.rules": "RULE:^CN=(.*?)(,.*)?$/$1/L,DEFAULT",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
        "delegation.token.secret.key": TOKEN_KEY,
        "connection.failed.authentication.delay.ms": "10",
        "group.initial.rebalance.delay.ms": "0",
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "1",
    }
    for listener in ("sasl_plaintext", "sasl_ssl"):
        name = f"listener.name.{listener}"
        told[f"{name}.plain.sasl.jaas.config"] = _JAAS.format("plain.Plain", users)
        for mechanism in MECHANISMS[1:]:
            told[f"{name}.{mechanism.lower()}.sasl.jaas.config"] = _JAAS.format("scram.Scram", "")
    return told


@contextlib.contextmanager
def kafka(folder: Path, told: Mapping[str, str]) -> Iterator[Secured]:
    free = FreePorts("127.0.0.1")
    names = ("PLAINTEXT", *LISTENERS, "CONTROLLER")
    ports = {name: free.pick() for name in names}
    listeners = [f"{name}://127.0.0.1:{port}" for name, port in ports.items()]
    where = {
        "listeners": ",".join(listeners),
        "advertised.listeners": ",".join(listeners[:-1]),
        "listener.security.protocol.map": ",".join(
            f"{name}:{name.replace('CONTROLLER', 'PLAINTEXT')}" for name in names
        ),
    }
    node = NodeOptions(
        port=ports["PLAINTEXT"],
        controller_port=ports["CONTROLLER"],
        settings={**told, **where},
    )
    with KafkaCluster(folder / "kafka", nodes={1: node}):
        yield Secured("kafka", folder, ports.__getitem__)
    free.close()


@contextlib.contextmanager
def headwater(folder: Path, told: Mapping[str, str]) -> Iterator[Secured]:
    protocols = {name: name for name in LISTENERS}
    broker = SecuredBroker(folder / "headwater", protocols, told).start()

    def port_of(listener: str) -> int:
        return broker.port if listener == "PLAINTEXT" else broker.port_of(listener)

    try:
        yield Secured("headwater", folder, port_of)
    finally:
        broker.stop()


def create_users(engine: Secured) -> None:
    for user, password in PASSWORDS.items():
        for mechanism in ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512:
            info = ScramCredentialInfo(mechanism, 4096)
            change = UserScramCredentialUpsertion(user, info, password.encode())
            for done in engine.admin.alter_user_scram_credentials([change]).values():
                done.result(60)
