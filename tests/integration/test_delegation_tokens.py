"""Delegation tokens by our command and Kafka's own tool, over a crash, and past their end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tests.cli_command import Cli
from tests.conftest import unmet
from tests.differential.apache_kafka_node import missing
from tests.differential.kafka_tools import KafkaTools
from tests.integration.raw_client import ConnectionClosedError, RawClient
from tests.scram_client import ScramClient, log_in
from tests.secured_broker import SecuredBroker

from headwater.broker.sasl.scram_credentials import ScramMechanism
from headwater.java.runtime import find_java

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SASL = "SASL_PLAINTEXT"
MECHANISM = ScramMechanism.SCRAM_SHA_512
_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule required"


class World(NamedTuple):
    """A broker with the users ann and bob, and a file of client properties for each."""

    broker: SecuredBroker
    folder: Path
    tools: KafkaTools

    def cli(self, user: str) -> TokenCommand:
        return TokenCommand(Cli(self.broker.address(SASL)), self.folder / f"{user}.properties")

    def properties(self, name: str, jaas: str) -> Path:
        path = self.folder / f"{name}.properties"
        path.write_text(
            f"security.protocol={SASL}\nsasl.mechanism={MECHANISM.sasl_name}\n"
            f"sasl.jaas.config={_MODULE} {jaas};\n"
        )
        return path

    def log_in(self, token: Any) -> tuple[RawClient, Any]:
        client = RawClient(Listening(self.broker.port_of(SASL), self.broker.output))
        scram = ScramClient(MECHANISM, token["tokenid"], token["hmac"], ",tokenauth=true")
        return client, log_in(client, MECHANISM, scram)


@dataclass
class Listening:
    """One listener of a broker, as a raw client takes it."""

    port: int
    output: list[str]


class TokenCommand(NamedTuple):
    """`headwater delegation-tokens` as one user."""

    cli: Cli
    config: Path

    def __call__(self, *words: object, stdin: str = "") -> Any:
        return self.cli("delegation-tokens", *words, "--command-config", self.config, stdin=stdin)

    def json(self, *words: object) -> Any:
        return self.cli.json("delegation-tokens", *words, "--command-config", self.config)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("tokens")
    broker = SecuredBroker(
        folder / "data",
        {SASL: SASL},
        {
            "sasl.enabled.mechanisms": MECHANISM.sasl_name,
            "delegation.token.secret.key": "the key",
            # An expired token is refused because it has expired, not because it is forgotten.
            "delegation.token.expiry.check.interval.ms": "3600000",
        },
    ).start()
    world = World(broker, folder, KafkaTools())
    for user in ("ann", "bob"):
        plain = Cli(broker.bootstrap_servers)
        plain.ok("users", "create", user, "--password-file", "-", stdin=f"{user}'s")
        world.properties(user, f'username="{user}" password="{user}\'s"')
    yield world
    world.tools.close()
    broker.stop()


def test_tokens_survive_a_kill(world: World) -> None:
    (token,) = world.cli("ann").json("create", "--renewer-principal", "User:bob")
    assert (token["owner"], token["renewers"]) == ("User:ann", "User:bob")
    client, answer = world.log_in(token)
    assert not answer.error_code
    assert 0 < answer.session_lifetime.total_seconds() <= 86_400
    client.close()
    finished = world.cli("bob")("renew", "--hmac-file", "-", stdin=token["hmac"])
    assert finished.code == 0, finished
    world.broker.kill()
    world.broker.output.clear()
    world.broker.start()
    (again,) = world.cli("bob").json("describe", "--owner-principal", "User:ann")
    assert again["tokenid"] == token["tokenid"]
    assert again["hmac"] == token["hmac"]
    client, answer = world.log_in(token)
    assert not answer.error_code
    # Whoever came by a token gets no other.
    told = client.call("describe_delegation_token", 3, owners=None)
    assert told.error_code.name == "delegation_token_request_not_allowed"
    client.close()
    finished = world.cli("ann")("expire", "--hmac-file", "-", stdin=token["hmac"])
    assert finished.code == 0, finished
    assert world.cli("ann").json("describe") == []
    client, answer = world.log_in(token)
    assert answer.error_code.name == "sasl_authentication_failed"
    client.close()


def test_a_token_that_expires_in_a_long_poll(world: World) -> None:
    Cli(world.broker.bootstrap_servers).ok("topics", "create", "quiet")
    # A busy machine may need longer than the first one lives.
    for life_ms in (2_000, 60_000):
        (token,) = world.cli("ann").json("create", "--max-life-time-period", life_ms)
        client, answer = world.log_in(token)
        if not answer.error_code:
            break
    lifetime_ms = round(answer.session_lifetime.total_seconds() * 1000)
    assert 0 < lifetime_ms <= life_ms
    nothing_yet = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 100}
    client.send(
        "fetch", 12, max_wait=lifetime_ms + 200, min_bytes=1, max_bytes=100,
        topics=[{"topic": "quiet", "partitions": [nothing_yet]}],
    )  # fmt: skip
    # What was asked in time is answered; what is asked then is not.
    assert client.receive().responses[0].partitions[0].error_code.name == "none"
    with pytest.raises(ConnectionClosedError):
        client.call("metadata", 12, topics=None)
    client.close()
    client, answer = world.log_in(token)
    assert answer.error_code.name == "sasl_authentication_failed"
    client.close()


def test_javas_tool_and_client(world: World) -> None:
    if lacking := missing():
        unmet(lacking)
    if find_java().javac is None:
        unmet("Kafka's tools are run by a small Java program, which takes a JDK")
    servers = ("--bootstrap-server", world.broker.address(SASL), "--command-config")
    ann = (*servers, str(world.folder / "ann.properties"))
    tool = "kafka-delegation-tokens"
    made = world.tools.run(tool, *ann, "--create", "--max-life-time-period", "-1")
    assert made.code == 0, made.text
    (token,) = [each for each in world.cli("ann").json("describe") if each["tokenid"] in made.text]
    assert token["hmac"] in made.text
    by_token = world.properties(
        "token", f'username="{token["tokenid"]}" password="{token["hmac"]}" tokenauth="true"'
    )
    came_in = (*servers, str(by_token))
    created = world.tools.run("kafka-topics", *came_in, "--create", "--topic", "by-token")
    assert "Created topic by-token" in created.text
    refused = world.tools.run(tool, *came_in, "--describe")
    assert "Delegation Token requests are not allowed" in refused.text
    renewed = world.tools.run(
        tool, *ann, "--renew", "--renew-time-period", "-1", "--hmac", token["hmac"]
    )
    assert "Completed renew operation" in renewed.text
    ended = world.tools.run(
        tool, *ann, "--expire", "--expiry-time-period", "-1", "--hmac", token["hmac"]
    )
    assert "Completed expire operation" in ended.text
    left = {each["tokenid"] for each in world.cli("ann").json("describe")}
    assert token["tokenid"] not in left
    # librdkafka has no such login, which is said before it tries.
    told = Cli(world.broker.address(SASL))("topics", "list", "--command-config", by_token)
    assert told.code != 0
    assert "delegation token" in told.err


def test_what_the_command_says_when_it_is_refused(world: World) -> None:
    command = TokenCommand(Cli(world.broker.bootstrap_servers), world.folder / "plain.properties")
    command.config.write_text("security.protocol=PLAINTEXT\n")
    for words in (["create"], ["describe"], ["renew", "--hmac-file", "-"]):
        finished = command(*words, stdin="YWJj")
        assert finished.code == 1
        assert "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED. Log in" in finished.err
    finished = world.cli("ann")("expire", "--hmac-file", "-", stdin="not base64!")
    assert "no HMAC" in finished.err
    finished = world.cli("ann")("create", "--owner-principal", "bob")
    assert "write it as User:bob" in finished.err
