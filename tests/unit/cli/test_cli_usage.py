"""Wrong command lines, help texts, and what the quick commands must not import."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from headwater import __version__
from headwater.cli.app import headwater


def _leaves(command: click.Command, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(command, click.Group):
        return [path]
    context = click.Context(command)
    found: list[tuple[str, ...]] = []
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        found += _leaves(inner, (*path, name))
    return found


@pytest.mark.parametrize("path", _leaves(headwater), ids=" ".join)
def test_every_command_has_help_with_examples(path: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(headwater, [*path, "--help"])
    assert shown.exit_code == 0
    assert "Examples:" in shown.output
    assert f"headwater {' '.join(path)}" in shown.output


@pytest.mark.parametrize("group", sorted({path[:-1] for path in _leaves(headwater)}), ids=" ".join)
def test_no_line_of_a_list_of_commands_is_cut_off(group: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(headwater, [*group, "--help"])
    assert "..." not in shown.output.partition("Commands:")[2]


def test_the_root_lists_commands_and_exit_codes() -> None:
    shown = CliRunner().invoke(headwater, ["--help"])
    for words in ("broker", "topics", "consume", "Exit codes:", "130"):
        assert words in shown.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["topcis"], "Did you mean topics?"),
        (["topics", "creat", "a"], "Did you mean create?"),
        (["topics", "create"], "Missing argument 'NAME...'"),
        (["topics", "create", "a", "--config", "retention.ms"], "not of the form NAME=VALUE"),
        (["topics", "create", "a", "--partitions", "0"], "0 is not in the range"),
        (["topics", "create", "no spaces"], "is no topic name"),
        (["topics", "list", "-b", "host:port"], "not of the form HOST:PORT"),
        (["topics", "alter", "a"], "Say what to change"),
        (["configs", "describe"], "Say whose settings"),
        (["configs", "describe", "--topic", "a", "--broker", "1"], "Say whose settings"),
        (["configs", "alter", "--topic", "a"], "Say what to change"),
        (["produce", "a", "--key", "k", "--parse-key"], "not from both"),
        (["produce", "a", "--json", "--parse-key"], "fields of the object"),
        (["produce", "a", "--key-separator", ""], "cannot be empty"),
        (["produce", "a", "--header", "h"], "not of the form NAME=VALUE"),
        (["produce", "a", "--timestamp", "yesterday"], "'yesterday' is no time"),
        (["produce", "a", "--compression", "rar"], "'rar' is not one of"),
        (["consume", "a", "--from-beginning", "--offset", "1"], "either --from-beginning"),
        (["consume", "a", "--json", "--keys"], "Give one of"),
        (["consume", "a", "--format", "%x"], "'%x' stands for nothing"),
        (["consume", "a", "--offset", "somewhere"], "'somewhere' is no position"),
        (["log", "dump"], "Missing argument 'FILE...'"),
        (["perf", "produce", "a", "--processes", "0"], "0 is not in the range"),
        (["demo", "--seconds", "-1"], "-1"),
    ],
)
def test_wrong_command_lines(arguments: list[str], message: str) -> None:
    refused = CliRunner().invoke(headwater, arguments)
    assert refused.exit_code == 2
    assert message in refused.output


def test_exit_codes_and_version_of_the_program() -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "headwater", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    version = run("--version")
    assert (version.returncode, version.stdout) == (0, f"headwater, version {__version__}\n")
    wrong = run("topics", "list", "--wrong")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "--wrong" in wrong.stderr
    assert run("--help").returncode == 0


@pytest.mark.parametrize(
    "arguments", [["--help"], ["broker", "--help"], ["broker", "--property", "num.partitions=x"]]
)
def test_start_up_imports_neither_rich_nor_a_client(arguments: list[str]) -> None:
    program = (
        "import sys\n"
        "from headwater.cli import main\n"
        f"main({arguments!r})\n"
        "slow = {'rich', 'confluent_kafka', 'kio', 'multiprocessing', 'tomllib'}\n"
        "sys.exit(str(slow & set(sys.modules)) if slow & set(sys.modules) else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
