"""Every example of the page about the REST proxy is run."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from tests.docs_page import ROOT, commands, run_command
from tests.registry_process import RegistryProcess
from tests.rest_process import RestProcess

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.broker_process import BrokerProcess

PAGE = ROOT / "docs/rest-proxy.md"


def test_examples(tmp_path: Path, start_broker: Callable[..., BrokerProcess]) -> None:
    broker = start_broker()
    registry = RegistryProcess(broker.bootstrap_servers).start()
    rest = RestProcess(broker.bootstrap_servers, ["--registry", registry.url]).start()
    examples = commands(PAGE)
    assert len(examples) == 24
    for command in examples:
        if shlex.split(command.line)[:2] == ["headwater", "rest"]:
            continue  # it runs already, on another port
        # What curl prints has no newline at its end.
        plain = command.line.startswith("curl") and "|" not in command.line
        line = f"{command.line} && echo" if plain and command.expected else command.line
        if "--value-format avro" in line:
            line += f" --registry {registry.url}"
        moved = command._replace(
            line=line.replace("http://localhost:8082", f"http://localhost:{rest.port}"),
            expected=command.expected.replace("localhost:8082", f"localhost:{rest.port}"),
        )
        run_command(moved, broker.bootstrap_servers, tmp_path)
    rest.stop()
    registry.stop()
