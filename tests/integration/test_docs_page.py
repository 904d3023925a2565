"""Brokers of documentation pages: each listener is on a port that nobody else can take."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.docs_page import Command, on_free_ports, run_command

CONFIG = ["headwater", "broker", "--config", "a.properties"]
LISTENERS = "PLAINTEXT://localhost:9092,SASL_PLAINTEXT://127.0.0.1:9093"


@pytest.mark.parametrize(
    ("arguments", "more"),
    [
        (["headwater", "broker"], ["--port", "0"]),
        (CONFIG, ["--property", "listeners=PLAINTEXT://localhost:0,SASL_PLAINTEXT://127.0.0.1:0"]),
    ],
)
def test_every_listener_gets_a_port_of_the_system(
    arguments: list[str], more: list[str], tmp_path: Path
) -> None:
    (tmp_path / "a.properties").write_text(f"listeners={LISTENERS}\n")
    assert on_free_ports(arguments, tmp_path) == [*arguments, *more]


def test_listeners_on_the_command_line_keep_all_but_their_ports() -> None:
    line = ["headwater", "broker", "--property", "listeners=A://127.0.0.1:9092,B://[::1]:9093"]
    assert on_free_ports(line, Path()) == [
        *line[:-1],
        "listeners=A://127.0.0.1:0,B://[::1]:0",
    ]


@pytest.mark.parametrize("is_in_file", [True, False])
def test_it_starts_while_others_have_the_ports_of_the_page(
    is_in_file: bool, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        taken = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(2)]
        plain, secured = (each.getsockname()[1] for each in taken)
        listeners = f"PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{secured}"
        settings = "sasl.enabled.mechanisms=SCRAM-SHA-256\n"
        line = "headwater broker --config a.properties"
        if is_in_file:
            settings += f"listeners={listeners}\n"
        else:
            line += f" --property listeners={listeners}"
        (tmp_path / "a.properties").write_text(settings)
        run_command(Command(line, ""), "", tmp_path)
