"""Every example of the page on metrics and quotas is run, against a broker with metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from tests.docs_page import ROOT, blocks, commands, run_command
from tests.integration.scrape import Metrics, url_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import StartBroker

PAGE = ROOT / "docs/monitoring.md"
PORT = "9308"


@pytest.mark.needs("curl")
def test_commands(tmp_path: Path, start_broker: StartBroker) -> None:
    broker = start_broker({"headwater.metrics.port": "0"})
    for command in commands(PAGE):
        is_server = command.line.startswith("headwater broker")
        port = "0" if is_server else str(urlsplit(url_of(broker)).port)
        line = command.line.replace(PORT, port)
        run_command(command._replace(line=line), broker.bootstrap_servers, tmp_path)


def test_prometheus_is_told_the_same_port() -> None:
    (yaml,) = blocks(PAGE, "yaml")
    assert f"localhost:{PORT}" in yaml


def test_the_metrics_on_the_page_are_there(start_broker: StartBroker) -> None:
    broker = start_broker({"headwater.metrics.port": "0"})
    types = Metrics(broker).types
    names = {name.removesuffix("_total") for name in _names_on_the_page()}
    assert len(names) > 20
    for name in names:
        is_prefix = name.endswith("_*")
        stem = name.removesuffix("*")
        assert stem in types or (is_prefix and any(each.startswith(stem) for each in types)), name


def _names_on_the_page() -> list[str]:
    """Names in the first column of the table; `..._x` stands for the last one's family."""
    names: list[str] = []
    for line in PAGE.read_text().splitlines():
        if not line.startswith("| `kafka") and not line.startswith("| `process"):
            continue
        quoted = line.split("|")[1].split("`")[1::2]
        full = quoted[0]
        for name in quoted:
            if name == "..._sum":
                names += [f"{each}_sum" for each in quoted[1:3]]
            elif name.startswith("..."):
                names.append(_continued(full, name.removeprefix("...")))
            else:
                names.append(name)
                full = name
    return names


def _continued(full: str, rest: str) -> str:
    """The name that shares with `full` all but its last part."""
    for family in ("kafka_topic_partition", "kafka_server_brokertopicmetrics", "kafka_log_log",
                   "kafka_server_socket_server_metrics", "kafka_server_quota"):  # fmt: skip
        if full.startswith(family):
            return family + rest
    raise AssertionError(full)
