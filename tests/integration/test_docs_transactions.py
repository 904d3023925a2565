"""Every example of the page on transactions is run, one after the other on one broker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli_command import Cli
from tests.docs_page import ROOT, blocks, commands, run_command, run_python

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import StartBroker

PAGE = ROOT / "docs/transactions.md"


def test_the_page(tmp_path: Path, start_broker: StartBroker) -> None:
    broker = start_broker()
    cli = Cli(broker.bootstrap_servers)
    cli.ok("topics", "create", "orders", "bills")
    cli.ok("produce", "orders", stdin="a\nb\nc\n")
    (code,) = blocks(PAGE, "python")
    run_python(code.replace("localhost:9092", broker.bootstrap_servers), tmp_path)
    assert [record["value"] for record in cli.records("bills")] == ["a", "b", "c"]
    for command in commands(PAGE):
        run_command(command, broker.bootstrap_servers, tmp_path)
