"""Every example of the page on groups is run, one after the other on one broker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli_command import Cli
from tests.docs_page import ROOT, blocks, commands, run_command, run_python

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import StartBroker

PAGE = ROOT / "docs/groups.md"


def test_the_page(tmp_path: Path, start_broker: StartBroker) -> None:
    broker = start_broker()
    cli = Cli(broker.bootstrap_servers)
    cli.ok("topics", "create", "orders")
    cli.ok("produce", "orders", stdin="a\nb\nc\n")
    (code,) = blocks(PAGE, "python")
    run_python(code.replace("localhost:9092", broker.bootstrap_servers), tmp_path)
    (described,) = cli.json("groups", "describe", "billing")
    assert (described["type"], described["partitions"][0]["lag"]) == ("Consumer", 0)
    cli.ok("groups", "delete", "billing")
    for command in commands(PAGE):
        run_command(command, broker.bootstrap_servers, tmp_path)
