"""Whoever asks for a salt does not learn who exists: not by its size, and not by the iterations."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import pytest
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from tests.integration.raw_client import ConnectionClosedError, RawClient
from tests.scram_client import ScramClient, log_in
from tests.secured_broker import SecuredBroker
from tests.waiting import HUNG_AFTER_S

from headwater.broker.sasl import scram_credentials as sasl
from headwater.security.bootstrap import bootstrap_text

if TYPE_CHECKING:
    from pathlib import Path

MECHANISM = "SCRAM-SHA-256"
STRANGERS = [f"stranger-{number}" for number in range(64)]


class Said(NamedTuple):
    """What a broker answers to a name."""

    salt: str
    iterations: str
    error: str

    @property
    def shape(self) -> tuple[int, str, str]:
        return len(base64.b64decode(self.salt)), self.iterations, self.error


@dataclass
class Gate:
    """Where logins are tried."""

    port: int

    def answers(self, name: str, extensions: str = "") -> Said:
        mechanism = sasl.ScramMechanism.SCRAM_SHA_256
        scram = ScramClient(mechanism, name, "guessed", extensions)
        with RawClient(self) as client:
            client.call("sasl_handshake", 1, mechanism=MECHANISM)
            first = client.call("sasl_authenticate", 2, auth_bytes=scram.first)
            fields = dict(part.split("=", 1) for part in first.auth_bytes.decode().split(","))
            last = client.call("sasl_authenticate", 2, auth_bytes=scram.final(first.auth_bytes))
        return Said(fields["s"], fields["i"], f"{last.error_code} {last.error_message}")


def add_user(broker: SecuredBroker, name: str, iterations: int, salt_bytes: int) -> None:
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, iterations)
    change = UserScramCredentialUpsertion(name, info, b"secret", bytes(salt_bytes))
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.alter_user_scram_credentials([change])[name].result(HUNG_AFTER_S)


def test_whose_password_is_deleted_is_logged_out(tmp_path: Path) -> None:
    first_users = tmp_path / "bootstrap.json"
    first_users.write_text(bootstrap_text({"ann": "secret", "bob": "secret"}, []))
    settings = {
        "sasl.enabled.mechanisms": "SCRAM-SHA-256,SCRAM-SHA-512",
        "headwater.bootstrap.file": str(first_users),
    }
    broker = SecuredBroker(tmp_path / "data", {"LOGIN": "SASL_PLAINTEXT"}, settings).start()
    gate = Gate(broker.port_of("LOGIN"))
    mechanisms = sasl.ScramMechanism
    logins = [(user, each) for user in ("ann", "bob") for each in mechanisms]
    clients = {login: RawClient(gate) for login in logins}
    for (user, mechanism), client in clients.items():
        assert log_in(client, mechanism, ScramClient(mechanism, user, "secret")).error_code == 0
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    deletion = UserScramCredentialDeletion("ann", ScramMechanism.SCRAM_SHA_256)
    admin.alter_user_scram_credentials([deletion])["ann"].result(HUNG_AFTER_S)
    gone = clients.pop(("ann", mechanisms.SCRAM_SHA_256))
    with gone, pytest.raises(ConnectionClosedError):
        gone.call("metadata", 1, topics=[])
    for client in clients.values():
        with client:
            assert client.call("metadata", 1, topics=[]).brokers
    broker.stop()


def test_unknown_names_get_what_known_ones_get(tmp_path: Path) -> None:
    first_users = tmp_path / "bootstrap.json"
    first_users.write_text(bootstrap_text({"ann": "secret"}, []))
    settings = {
        "sasl.enabled.mechanisms": MECHANISM,
        "headwater.bootstrap.file": str(first_users),
        "connection.failed.authentication.delay.ms": "0",
    }
    broker = SecuredBroker(tmp_path / "data", {"LOGIN": "SASL_PLAINTEXT"}, settings).start()
    gate = Gate(broker.port_of("LOGIN"))
    before = gate.answers("stranger")
    assert gate.answers("stranger") == before
    assert gate.answers("ann").shape == before.shape
    # Other tools make other salts, and hash more or less often.
    add_user(broker, "bob", 4096, 64)
    add_user(broker, "eve", 12_000, 16)
    known = {gate.answers(name).shape for name in ("ann", "bob", "eve")}
    unknown = {name: gate.answers(name) for name in STRANGERS}
    assert {each.shape for each in unknown.values()} == known
    assert len({each.salt for each in unknown.values()}) == len(STRANGERS)
    broker.stop()
    broker.start()
    gate = Gate(broker.port_of("LOGIN"))
    assert {name: gate.answers(name) for name in STRANGERS} == unknown
    broker.stop()
