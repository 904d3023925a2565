"""`headwater up --engine kafka`: Apache Kafka and the registry in one supervised tree."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

import httpx
from tests.cli_command import Cli
from tests.docs_page import ROOT, blocks, commands, run_command, run_python
from tests.platform_process import PlatformProcess

from headwater.java.artifacts import cache_directory

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PAGE = ROOT / "docs/clusters.md"


def test_kafka_and_the_registry_as_one_platform(tmp_path: Path, topic: str) -> None:
    options = ("--engine", "kafka", "--racks", "here", "--property", "broker.num.partitions=4")
    with PlatformProcess(tmp_path, options) as up:
        cli = Cli(up.bootstrap_servers)
        data = ("--data", tmp_path / "platform")
        cli.ok("topics", "create", topic)
        assert cli.json("topics", "describe", topic)[0]["partition_count"] == 4
        registered = httpx.post(
            f"{up.registry_url}/subjects/s/versions", json={"schema": '"string"'}, timeout=60
        )
        assert registered.json()["id"] == 1
        (node,) = cli.json("cluster", "status", *data)["nodes"]
        assert (node["state"], node["rack"], node["quorum"]) == ("running", "here", "leader")
        # What dies by itself is started again.
        os.kill(node["pid"], 9)
        up.wait_for(r"broker died \(SIGKILL\)")
        up.wait_for("broker is healthy again")
        assert topic in cli.ok("topics", "list").splitlines()
        up.stop()
    (stopped,) = cli.json("cluster", "status", *data)["nodes"]
    assert (stopped["state"], stopped["pid"]) == ("stopped", None)


def test_the_page_about_clusters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start, *examples = commands(PAGE)
    assert len(examples) == 13
    cache = cache_directory()
    monkeypatch.setenv("HEADWATER_CACHE", str(cache))
    monkeypatch.setenv("HOME", str(tmp_path))
    arguments = shlex.split(start.line)
    assert arguments[:2] == ["headwater", "up"]
    with PlatformProcess(tmp_path, arguments[2:]) as up:
        servers = Cli("").json("cluster", "status")["bootstrap_servers"]
        for command in examples:
            run_command(command, servers, tmp_path)
        up.wait_for(r"broker-2 was stopped on purpose \(SIGKILL\)")
        up.wait_for("broker-2 is healthy again")
        up.stop()


def test_the_python_of_the_page_about_clusters(tmp_path: Path) -> None:
    (example,) = blocks(PAGE, "python")
    run_python(example, tmp_path)
