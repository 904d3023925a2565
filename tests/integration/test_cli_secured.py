"""Commands with a client properties file, on an Apache Kafka that wants TLS and passwords."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, NamedTuple

import httpx
import pytest
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from tests.certificates import Certificate, certificate_for_loopback
from tests.cli_command import Cli
from tests.platform_process import PlatformProcess

from headwater.cluster import KafkaCluster, NodeOptions
from headwater.processes.ports import FreePorts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_JAAS = "org.apache.kafka.common.security.{kind}.{Kind}LoginModule required"
_PLAIN = _JAAS.format(kind="plain", Kind="Plain")
_SCRAM = _JAAS.format(kind="scram", Kind="Scram")
_PASSWORD = "a=l,i"
_COMMANDS = (["transactions", "list"], ["quotas", "list"], ["groups", "list"])


class Secured(NamedTuple):
    """A node with a listener for each protocol, and what clients need for it."""

    ports: dict[str, int]
    certificate: Certificate


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    directory = tmp_path_factory.mktemp("secured")
    certificate = certificate_for_loopback(directory)
    keystore = directory / "keystore.pem"
    keystore.write_bytes(certificate.key.read_bytes() + certificate.certificate.read_bytes())
    free = FreePorts("127.0.0.1")
    names = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL", "CONTROLLER")
    ports = {name: free.pick() for name in names}
    listeners = [f"{name}://127.0.0.1:{port}" for name, port in ports.items()]
    settings = {
        "listeners": ",".join(listeners),
        "advertised.listeners": ",".join(listeners[:-1]),
        "listener.security.protocol.map": ",".join(
            f"{name}:{name.replace('CONTROLLER', 'PLAINTEXT')}" for name in names
        ),
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(keystore),
    }
    for name in ("sasl_plaintext", "sasl_ssl"):
        settings |= {
            f"listener.name.{name}.plain.sasl.jaas.config": f'{_PLAIN} user_alice="{_PASSWORD}";',
            f"listener.name.{name}.scram-sha-256.sasl.jaas.config": f"{_SCRAM};",
            f"listener.name.{name}.scram-sha-512.sasl.jaas.config": f"{_SCRAM};",
        }
    node = NodeOptions(
        port=ports["PLAINTEXT"], controller_port=ports["CONTROLLER"], settings=settings
    )
    with KafkaCluster(directory / "cluster", nodes={1: node}) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
            change = UserScramCredentialUpsertion("bob", ScramCredentialInfo(mechanism, 4096), b"b")
            for done in admin.alter_user_scram_credentials([change]).values():
                done.result(60)
        yield Secured(ports, certificate)
    free.close()


def properties(secured: Secured, protocol: str, mechanism: str, password: str = "") -> str:
    lines = [f"security.protocol={protocol}"]
    if protocol.endswith("SSL"):
        lines += [
            "ssl.truststore.type=PEM",
            f"ssl.truststore.location={secured.certificate.certificate}",
        ]
    if mechanism == "PLAIN":
        jaas = f'{_PLAIN} username="alice" password="{password or "a=l,i"}";'
        lines += [f"sasl.mechanism={mechanism}", f"sasl.jaas.config={jaas}"]
    elif mechanism:
        lines += [
            f"sasl.mechanism={mechanism}",
            "sasl.username=bob",
            f"sasl.password={password or 'b'}",
        ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("protocol", "mechanism"),
    [
        ("SSL", ""),
        ("SASL_PLAINTEXT", "PLAIN"),
        ("SASL_PLAINTEXT", "SCRAM-SHA-256"),
        ("SASL_SSL", "SCRAM-SHA-512"),
    ],
)
def test_every_kind_of_command_gets_in(
    secured: Secured, tmp_path: Path, protocol: str, mechanism: str
) -> None:
    config = tmp_path / "client.properties"
    config.write_text(properties(secured, protocol, mechanism))
    cli = Cli(f"127.0.0.1:{secured.ports[protocol]}")
    for command in _COMMANDS:
        cli.ok(*command, "--command-config", config)
    unknown = cli("groups", "describe", "nobody", "--command-config", config)
    assert "there is no group 'nobody'" in unknown.err


def test_the_platform_gets_in(secured: Secured, tmp_path: Path) -> None:
    config = tmp_path / "client.properties"
    config.write_text(properties(secured, "SASL_SSL", "SCRAM-SHA-512"))
    servers = f"127.0.0.1:{secured.ports['SASL_SSL']}"
    options = ("--bootstrap-server", servers, "--command-config", str(config))
    with PlatformProcess(tmp_path, options) as up:
        asked = httpx.post(
            f"{up.registry_url}/subjects/s/versions", json={"schema": '"string"'}, timeout=60
        )
        assert asked.json()["id"] == 1
        up.stop()


@pytest.mark.parametrize("command", _COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_a_wrong_password_is_named_as_the_reason(
    secured: Secured, tmp_path: Path, mechanism: str, command: list[str]
) -> None:
    config = tmp_path / "client.properties"
    config.write_text(properties(secured, "SASL_PLAINTEXT", mechanism, password="guessed"))
    cli = Cli(f"127.0.0.1:{secured.ports['SASL_PLAINTEXT']}")
    finished = cli(*command, "--command-config", config)
    assert finished.code == 1
    assert "uthentication failed" in finished.err


_PROGRAM = """
from headwater.streams import App, col

app = App("alerts", guarantee="exactly_once", bootstrap_servers="127.0.0.1:1")
app.stream("readings", value="string").filter(col("value") > "a").to("alerts", value="string")
"""


@pytest.mark.timeout(600)
def test_a_pipeline_gets_in_with_all_its_clients(secured: Secured, tmp_path: Path) -> None:
    config, program = tmp_path / "client.properties", tmp_path / "alerts.py"
    program.write_text(_PROGRAM)
    servers = f"127.0.0.1:{secured.ports['SASL_SSL']}"
    cli = Cli(servers)
    run = ["run", program, "--once", "--checkpoint-dir", tmp_path / "checkpoint"]
    run += ["--bootstrap-server", servers]
    config.write_text(properties(secured, "SASL_SSL", "SCRAM-SHA-512", password="guessed"))
    refused = cli(*run, "--command-config", config)
    assert refused.code == 1
    assert "refused the connection" in refused.err
    assert "uthentication failed" in refused.err

    config.write_text(properties(secured, "SASL_SSL", "SCRAM-SHA-512"))
    cli.ok("topics", "create", "readings", "--command-config", config)
    cli.ok("produce", "readings", "--command-config", config, stdin="a\nb\n")
    # As in a file that is shared with clients of another cluster: the command line wins.
    shared = "bootstrap.servers=127.0.0.1:1\nisolation.level=read_uncommitted\n"
    config.write_text(shared + properties(secured, "SASL_SSL", "SCRAM-SHA-512"))
    done = subprocess.run(
        cli.command(*run, "--command-config", config), env=cli.environment, timeout=500,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    config.write_text(properties(secured, "SASL_SSL", "SCRAM-SHA-512"))
    read = ["consume", "alerts", "--from-beginning", "--until-end", "--isolation-level"]
    assert cli.ok(*read, "read_committed", "--command-config", config).splitlines() == ["b"]
