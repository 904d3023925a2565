"""What `headwater mirror` refuses, and the file that it makes."""

from __future__ import annotations

import doctest
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from headwater.cli.app import headwater
from headwater.cli.mirror import progress
from headwater.cluster.mirror_maker import flows
from headwater.config.properties import parse_properties

if TYPE_CHECKING:
    from pathlib import Path

FROM_TO = ("--from", "127.0.0.1:1", "--to", "127.0.0.1:2")


def run(*arguments: str) -> tuple[int, str]:
    shown = CliRunner().invoke(headwater, ["mirror", *arguments])
    return shown.exit_code, shown.output


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "Say what to copy: MM2.PROPERTIES, or --from and --to."),
        (["--from", "127.0.0.1:1"], "--from and --to"),
        ([*FROM_TO, "--alias", "my lab"], "'my lab' cannot begin topics' names"),
        ([*FROM_TO, "--alias", "target"], "not 'target'"),
        (["none.properties"], "'none.properties' does not exist"),
    ],
)
def test_a_wrong_command_line_is_told(arguments: list[str], reason: str) -> None:
    code, output = run(*arguments)
    assert code == 2
    assert reason in " ".join(output.split())


def test_a_file_and_addresses_exclude_each_other(tmp_path: Path) -> None:
    file = tmp_path / "mm2.properties"
    file.write_text("clusters = a")
    code, output = run(str(file), *FROM_TO)
    assert code == 2
    assert "leave out --from and --to" in output
    code, output = run(str(file))
    assert code == 1
    assert "a.bootstrap.servers is missing" in output


def test_the_file_that_options_stand_for_is_shown(tmp_path: Path) -> None:
    client = tmp_path / "client.properties"
    client.write_text("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n")
    code, output = run(
        *FROM_TO, "--from-config", str(client), "--topics", "orders", "--alias", "lab",
        "--property", "tasks.max=4", "--show",
    )  # fmt: skip
    assert code == 0, output
    shown = parse_properties(output)
    assert [str(each) for each in flows(shown)] == ["lab->target"]
    assert shown["lab.sasl.mechanism"] == "PLAIN"
    assert shown["lab.bootstrap.servers"] == "127.0.0.1:1"
    assert shown["target.bootstrap.servers"] == "127.0.0.1:2"
    assert shown["topics"] == "orders"
    assert shown["tasks.max"] == "4"


def test_examples() -> None:
    assert doctest.testmod(progress).failed == 0
