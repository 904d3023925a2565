"""`headwater up --engine kafka`: Apache Kafka and the registry in one supervised tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
from tests.cli_command import Cli
from tests.platform_process import PlatformProcess

if TYPE_CHECKING:
    from pathlib import Path


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

        # Down on purpose it stays down; what dies by itself is started again.
        cli.ok("cluster", "kill-broker", 1, *data)
        up.wait_for(r"broker was stopped on purpose \(SIGKILL\)")
        (stopped,) = cli.json("cluster", "status", *data)["nodes"]
        assert (stopped["state"], stopped["pid"]) == ("stopped", None)
        cli.ok("cluster", "start-broker", 1, *data)
        up.wait_for("broker is healthy again")
        assert topic in cli.ok("topics", "list").splitlines()
        up.stop()
    assert "broker   | " in up.text
    (stopped,) = cli.json("cluster", "status", *data)["nodes"]
    assert stopped["state"] in ("stopped", "down")
