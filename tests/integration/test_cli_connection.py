"""How every command behaves when the cluster is not there, or will not have it."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from tests.cli_command import Cli

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.broker_process import BrokerProcess


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address where nothing listens, held so that nobody else takes it."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{held.getsockname()[1]}"


def test_no_broker(nobody: str) -> None:
    commands = [
        ("topics", "list"),
        ("configs", "describe", "--topic", "t"),
        ("produce", "t"),
        ("consume", "t"),
        ("perf", "latency", "t"),
    ]
    cli = Cli(nobody)
    # Side by side: each waits a few seconds, in case the broker is only just starting.
    with ThreadPoolExecutor(len(commands)) as pool:
        for failed in pool.map(lambda arguments: cli(*arguments, stdin="a\n"), commands):
            assert (failed.code, failed.out) == (1, "")
            assert failed.err == (
                f"Error: no broker answered at {nobody} within 5 s (Connection refused). "
                "Is it running? Start one with: headwater broker\n"
            )


def test_a_program_hears_of_a_wrong_broker_as_soon_as_every_command(
    nobody: str, tmp_path: Path
) -> None:
    program = tmp_path / "app.py"
    program.write_text(
        "from headwater.streams import App\n"
        "app = App('app')\n"
        "app.stream('a', value='string').to('b')\n"
    )
    failed = Cli(nobody)("run", program, "--once", "--checkpoint-dir", tmp_path / "checkpoint")
    assert failed.code == 1
    assert (
        f"Error: no broker answered at {nobody} within 5 s (Connection refused). "
        "Is it running? Start one with: headwater broker\n"
    ) in failed.err


def test_ctrl_c_while_waiting_for_a_broker() -> None:
    # Somebody listens, so that the moment when the client waits can be seen; nobody answers.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with Cli(address).start("topics", "list") as running:
            accepted, _ = silent.accept()
            with accepted:
                assert accepted.recv(1)
                assert running.interrupt() == 130
                assert running.stderr.read() == ""


def test_a_client_properties_file_is_used(broker: BrokerProcess, tmp_path: Path) -> None:
    properties = tmp_path / "client.properties"
    cli = Cli(broker.bootstrap_servers)
    properties.write_text("client.id=me\nvalue.serializer=a.Java.Class\nsocket.timeout.ms=3000\n")
    cli.ok("topics", "list", "--command-config", properties)

    properties.write_text("no.such.property=1\n")
    refused = cli("topics", "list", "--command-config", properties)
    assert refused.code == 2
    assert "no.such.property" in refused.err

    properties.write_text("sasl.jaas.config=nothing to see\n")
    refused = cli("topics", "list", "--command-config", properties)
    assert refused.code == 2
    assert "sasl.jaas.config" in refused.err


def test_credentials_that_a_broker_has_no_use_for(broker: BrokerProcess, tmp_path: Path) -> None:
    properties = tmp_path / "client.properties"
    properties.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        'sasl.jaas.config=PlainLoginModule required username="u" password="p";\n'
    )
    refused = Cli(broker.bootstrap_servers)("topics", "list", "--command-config", properties)
    assert refused.code == 1
    assert broker.bootstrap_servers in refused.err


def test_the_environment_names_the_broker_and_the_option_wins(broker: BrokerProcess) -> None:
    Cli(broker.bootstrap_servers).ok("topics", "list")
    Cli("127.0.0.1:1").ok("topics", "list", "-b", broker.bootstrap_servers)
