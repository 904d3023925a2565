"""Real clients that log in: every mechanism, with and without TLS, and users that come and go."""

from __future__ import annotations

import asyncio
import socket
import subprocess
from typing import TYPE_CHECKING, NamedTuple

import confluent_kafka
import pytest
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError as AioKafkaError
from tests.certificates import Authority
from tests.cli_command import Cli
from tests.conftest import unmet
from tests.differential.apache_kafka_node import missing
from tests.differential.kafka_tools import KafkaTools
from tests.integration.raw_client import ConnectionClosedError, RawClient
from tests.integration.scrape import Metrics
from tests.integration.secured_clients import CLIENT_NAMES, CLIENTS, Access
from tests.secured_broker import SecuredBroker
from tests.tokens import Provider
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LISTENERS = {"SASL_PLAINTEXT": "SASL_PLAINTEXT", "SASL_SSL": "SASL_SSL"}
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
PROVIDER = Provider()
PASSWORDS = {"PLAIN": 'p "q"', "SCRAM": "s,=1"}
_JAAS = "org.apache.kafka.common.security.plain.PlainLoginModule required user_ann={};"


class World(NamedTuple):
    """A broker with users, and the files of its clients."""

    broker: SecuredBroker
    folder: Path

    def access(self, protocol: str, mechanism: str, password: str | None = None) -> Access:
        return Access(
            self.broker.address(protocol),
            protocol,
            self.folder / "authority.pem" if protocol == "SASL_SSL" else None,
            mechanism=mechanism,
            user="ann",
            password=password or PASSWORDS[mechanism.partition("-")[0]],
        )

    def java_login(self, mechanism: str) -> str:
        kind = "Scram" if mechanism.startswith("SCRAM") else "Plain"
        module = f"org.apache.kafka.common.security.{kind.lower()}.{kind}LoginModule"
        password = PASSWORDS[kind.upper()].replace('"', '\\\\"')
        return f'sasl.jaas.config={module} required username="ann" password="{password}";\n'

    @property
    def cli(self) -> Cli:
        return Cli(self.broker.bootstrap_servers)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("sasl")
    authority = Authority()
    (folder / "authority.pem").write_text(authority.certificate)
    store = authority.issue("CN=broker").write(folder / "broker.pem")
    escaped = PASSWORDS["PLAIN"].replace('"', '\\"')
    properties = {
        "sasl.enabled.mechanisms": ",".join((*MECHANISMS, "OAUTHBEARER")),
        "sasl.oauthbearer.jwks.endpoint.url": PROVIDER.publish(folder / "jwks.json"),
        "ssl.keystore.location": str(store),
        "ssl.keystore.type": "PEM",
        "connections.max.reauth.ms": "600000",
    }
    for name in LISTENERS:
        setting = f"listener.name.{name.lower()}.plain.sasl.jaas.config"
        properties[setting] = _JAAS.format(f'"{escaped}"')
    broker = SecuredBroker(folder / "data", LISTENERS, properties).start()
    world = World(broker, folder)
    world.cli.ok("users", "create", "ann", "--password-file", "-", stdin=PASSWORDS["SCRAM"])
    world.cli.ok("topics", "create", "seen")
    # What was acknowledged is there after a crash.
    broker.kill()
    broker.output.clear()
    broker.start()
    yield world
    broker.stop()


@pytest.mark.parametrize("client", CLIENT_NAMES)
@pytest.mark.parametrize(
    ("protocol", "mechanism"),
    [("SASL_PLAINTEXT", "PLAIN"), ("SASL_PLAINTEXT", "SCRAM-SHA-256"), ("SASL_SSL", "PLAIN"),
     ("SASL_SSL", "SCRAM-SHA-512")],
)  # fmt: skip
def test_a_client_writes_and_reads(
    world: World, client: str, protocol: str, mechanism: str, topic: str
) -> None:
    value = f"{client} by {mechanism}".encode()
    assert CLIENTS[client](world.access(protocol, mechanism), topic, value) == value


@pytest.mark.needs("kcat")
def test_kcat_gets_in(world: World) -> None:
    # kcat takes a comma for the end of a setting, and the other password has one.
    given = world.access("SASL_SSL", "PLAIN").librdkafka()
    options = [part for item in given.items() for part in ("-X", "=".join(item))]
    said = subprocess.run(
        ["kcat", "-L", *options], capture_output=True, text=True, timeout=60, check=False
    )
    assert f"broker 1 at {world.broker.address('SASL_SSL')}" in said.stdout, said


@pytest.mark.parametrize("client", CLIENT_NAMES)
def test_a_client_shows_a_token(world: World, client: str, topic: str) -> None:
    def access(token: str) -> Access:
        base = world.access("SASL_SSL", "PLAIN")
        return base._replace(mechanism="OAUTHBEARER", user=None, password=None, token=token)

    assert CLIENTS[client](access(PROVIDER.token()), topic, b"by token") == b"by token"


def test_javas_tools_get_in_by_every_mechanism(world: World) -> None:
    lacking = missing()
    if lacking is not None:
        unmet(lacking)
    token = world.folder / "token.jwt"
    token.write_text(PROVIDER.token())
    logins = {name: world.java_login(name) for name in MECHANISMS}
    logins["OAUTHBEARER"] = (
        "sasl.login.callback.handler.class="
        "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler\n"
        f"sasl.oauthbearer.token.endpoint.url={token.as_uri()}\n"
        "sasl.jaas.config="
        "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;\n"
    )
    tools = KafkaTools(f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={token.as_uri()}")
    try:
        for mechanism, login in logins.items():
            properties = world.folder / f"{mechanism}.properties"
            properties.write_text(
                f"security.protocol=SASL_SSL\nsasl.mechanism={mechanism}\n{login}"
                f"ssl.truststore.type=PEM\nssl.truststore.location={world.folder}/authority.pem\n"
            )
            told = tools.run(
                "kafka-get-offsets", "--bootstrap-server", world.broker.address("SASL_SSL"),
                "--command-config", str(properties), "--topic", "seen",
            )  # fmt: skip
            assert (told.code, told.text.strip()) == (0, "seen:0:0"), mechanism
    finally:
        tools.close()


@pytest.mark.parametrize(
    "token", [PROVIDER.token(exp=100), PROVIDER.unsecured()], ids=["expired", "unsecured"]
)
def test_a_token_that_proves_nothing_lets_nobody_in(world: World, token: str) -> None:
    message = f"n,,\x01auth=Bearer {token}\x01\x01".encode()

    class Listener:
        port = world.broker.port_of("SASL_PLAINTEXT")
        output = world.broker.output

    with RawClient(Listener()) as client:
        assert client.call("sasl_handshake", 1, mechanism="OAUTHBEARER").error_code == 0
        answer = client.call("sasl_authenticate", 2, auth_bytes=message)
        assert (answer.error_code, answer.auth_bytes) == (0, b'{"status": "invalid_token"}')
        assert client.call("sasl_authenticate", 2, auth_bytes=b"\x01").error_code == 58
    assert world.broker.says("its login by OAUTHBEARER failed")
    assert token not in world.broker.text


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_who_does_not_know_the_password_is_told_so(world: World, mechanism: str) -> None:
    access = world.access("SASL_PLAINTEXT", mechanism, password="guessed by somebody")

    async def connect() -> None:
        await AIOKafkaAdminClient(**access.python()).start()

    with pytest.raises(AioKafkaError):
        asyncio.run(connect())
    assert world.broker.says(f"its login by {mechanism} failed")
    assert "guessed by somebody" not in world.broker.text
    failed = "kafka_server_socket_server_metrics_failed_authentication_total"
    assert Metrics(world.broker).value(failed, listener="SASL_PLAINTEXT") >= 1


def test_nothing_is_served_before_the_login(world: World) -> None:
    class Listener:
        port = world.broker.port_of("SASL_PLAINTEXT")
        output = world.broker.output

    with RawClient(Listener()) as client:
        assert client.call("api_versions", 0).error_code == 0
        with pytest.raises(ConnectionClosedError):
            client.call("metadata", 1, topics=None)
    assert world.broker.says("it sent METADATA v1 before it had authenticated")
    with RawClient(world.broker) as client:
        # Where nobody logs in, a handshake is out of place.
        answer = client.call("sasl_handshake", 1, mechanism="PLAIN")
        assert answer.error_code == 34
        assert client.call("sasl_authenticate", 2, auth_bytes=b"x").error_code == 34


@pytest.mark.parametrize("mechanism", MECHANISMS[::2])
def test_our_own_commands_log_in(world: World, tmp_path: Path, mechanism: str) -> None:
    config = tmp_path / "client.properties"
    given = world.access("SASL_SSL", mechanism).librdkafka()
    config.write_text("".join(f"{name}={value}\n" for name, value in given.items()))
    cli = Cli(world.broker.address("SASL_SSL"))
    for command in (["topics", "list"], ["quotas", "list"], ["users", "list"]):
        cli.ok(*command, "--command-config", config)


def test_users_by_command(world: World) -> None:
    cli = world.cli
    scram_512 = ("--mechanism", "SCRAM-SHA-512")
    cli.ok("users", "create", "bob", "--password-file", "-", *scram_512, stdin="first\n")
    assert cli.json("users", "list") == [
        {"user": "ann", "mechanism": "SCRAM-SHA-256", "iterations": 4096},
        {"user": "ann", "mechanism": "SCRAM-SHA-512", "iterations": 4096},
        {"user": "bob", "mechanism": "SCRAM-SHA-512", "iterations": 4096},
    ]
    again = cli("users", "create", "bob", "--password-file", "-", stdin="x")
    assert (again.code, "already" in again.err) == (1, True)
    nobody = cli("users", "alter", "eve", "--password-file", "-", stdin="x")
    assert (nobody.code, "no user 'eve'" in nobody.err) == (1, True)
    empty = cli("users", "alter", "bob", "--password-file", "-", stdin="\n")
    assert (empty.code, "empty" in empty.err) == (1, True)
    cli.ok("users", "alter", "bob", "--password-file", "-", *scram_512, stdin="second")
    access = world.access("SASL_PLAINTEXT", "SCRAM-SHA-512", "second")._replace(user="bob")
    admin = confluent_kafka.admin.AdminClient(access.librdkafka())
    assert admin.list_topics(timeout=60).brokers
    cli.ok("users", "delete", "bob")
    assert {row["user"] for row in cli.json("users", "list")} == {"ann"}
    gone = cli("users", "delete", "bob")
    assert (gone.code, "no user 'bob'" in gone.err) == (1, True)


def test_no_password_is_shown(world: World) -> None:
    shown = world.cli.ok("configs", "describe", "--broker", "1", "--all")
    assert "sasl.jaas.config" in shown
    for password in PASSWORDS.values():
        assert password not in shown
        assert password not in world.broker.text
    kept = (world.broker.data_dir / "headwater.metadata").read_text()
    assert PASSWORDS["SCRAM"] not in kept


def test_logins_that_go_nowhere_end(tmp_path: Path) -> None:
    jaas = {"listener.name.sasl_plaintext.plain.sasl.jaas.config": _JAAS.format("x")}
    broker = SecuredBroker(
        tmp_path / "data",
        {"SASL_PLAINTEXT": "SASL_PLAINTEXT"},
        {
            "sasl.enabled.mechanisms": "PLAIN",
            "headwater.authentication.timeout.ms": "500",
            **jaas,
        },
    ).start()

    with socket.create_connection(("127.0.0.1", broker.port_of("SASL_PLAINTEXT"))) as silent:
        silent.settimeout(60)
        assert silent.recv(1) == b""
    count = "kafka_server_socket_server_metrics_connection_count"
    metrics = wait_for(lambda: Metrics(broker))
    assert metrics.value(count, listener="SASL_PLAINTEXT") == 0
    broker.stop()
