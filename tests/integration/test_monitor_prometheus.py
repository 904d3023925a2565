"""A real Prometheus that scrapes a broker and a monitor: dashboards show data, rules agree."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from tests.broker_process import BrokerProcess
from tests.cli_command import Cli
from tests.integration.scrape import url_of
from tests.monitor_process import MonitorProcess
from tests.server_process import ServerProcess
from tests.waiting import wait_for

from headwater.monitor.alerts.rules import DEFAULT_RULES
from headwater.monitor.dashboards import DASHBOARDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from headwater.monitor.dashboards import Panel

pytestmark = pytest.mark.needs("prometheus")

RULES = """
[[rule]]
name = "Stopped"
when = "group-status"
status = ["STOP", "STALL"]
severity = "critical"

[[rule]]
name = "Late"
when = "group-lag-seconds"
above = 0.001
group = "bill.*"

[[rule]]
name = "Behind"
when = "group-lag"
above = 1

[[rule]]
name = "Quiet"
when = "topic-idle"
topic = "orders"
seconds = "3s"

[[rule]]
name = "OutOfSync"
when = "partition-under-replicated"

[[rule]]
name = "Offline"
when = "partition-offline"

[[rule]]
name = "DiskIsUsed"
when = "disk-full"
percent = 0

[[rule]]
name = "Expires"
when = "certificate-expires"
"""
FIRING = {
    ("Stopped", "billing"),
    ("Late", "billing"),
    ("Behind", "billing"),
    ("Quiet", "orders"),
    ("DiskIsUsed", "broker 1"),
}


class PrometheusProcess(ServerProcess):
    """Prometheus on a port of its choice, with data of its own."""

    name = "Prometheus"
    ready = re.compile(r'msg="Listening on" address=127\.0\.0\.1:(\d+)')

    def __init__(self, config: Path) -> None:
        super().__init__()
        self._config = config

    def command_line(self) -> list[str]:
        return [
            *("prometheus", f"--config.file={self._config}"),
            f"--storage.tsdb.path={self._config.parent / 'data'}",
            f"--web.listen-address=127.0.0.1:{self.port}",
        ]

    def listens(self, said: re.Match[str]) -> None:
        self.port = int(said[1])

    def is_ready(self) -> bool:
        """Whether it has read its own data, of which there is none."""
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready", timeout=60).close()
        except urllib.error.HTTPError:
            return False
        return True

    def get(self, path: str, **query: str) -> Any:
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=60) as answer:
            return json.loads(answer.read())["data"]


@pytest.fixture(scope="module")
def scene(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[PrometheusProcess, MonitorProcess]]:
    """A Prometheus and a monitor that watch a broker whose group `billing` has stopped."""
    folder = tmp_path_factory.mktemp("prometheus")
    with ExitStack() as started:
        yield _scene(folder, started)


def _scene(folder: Path, started: ExitStack) -> tuple[PrometheusProcess, MonitorProcess]:
    broker = BrokerProcess(folder / "broker", {"headwater.metrics.port": "0"}).start()
    started.callback(broker.stop)
    _leave_a_group_behind(broker.bootstrap_servers)
    (folder / "rules.toml").write_text(RULES)
    window = ("--property", "evaluation.window.samples=2")
    options = (*window, "--property", f"alert.rules.file={folder / 'rules.toml'}")
    monitor = MonitorProcess(broker.bootstrap_servers, options).start()
    started.callback(monitor.stop)
    exported = Cli("").ok("monitor", "rules", "--rules", str(folder / "rules.toml"))
    (folder / "rules.yml").write_text(exported)
    (folder / "prometheus.yml").write_text(
        json.dumps(
            {
                "global": {"scrape_interval": "500ms", "evaluation_interval": "500ms"},
                "rule_files": ["rules.yml"],
                "scrape_configs": [
                    {"job_name": name, "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}
                    for name, port in (
                        ("broker", urllib.parse.urlsplit(url_of(broker)).port),
                        ("monitor", monitor.port),
                    )
                ],
            }
        )
    )
    prometheus = PrometheusProcess(folder / "prometheus.yml").start()
    started.callback(prometheus.stop)
    wait_for(prometheus.is_ready)
    return prometheus, monitor


def _leave_a_group_behind(bootstrap_servers: str) -> None:
    producer = Producer({"bootstrap.servers": bootstrap_servers})
    for number in range(10):
        producer.produce("orders", b"x" * 100, partition=0, key=str(number))
    assert producer.flush(60) == 0
    settings = {"bootstrap.servers": bootstrap_servers, "group.id": "billing"}
    consumer = Consumer({**settings, "auto.offset.reset": "earliest", "enable.auto.commit": False})
    consumer.assign([TopicPartition("orders", 0, 0)])
    assert wait_for(lambda: consumer.poll(0.1)) is not None  # so that there are bytes out
    consumer.commit(offsets=[TopicPartition("orders", 0, 2)], asynchronous=False)
    consumer.close()


PANELS = [panel for dashboard in DASHBOARDS for panel in dashboard.panels]


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.title)
def test_each_panel_shows_data(
    scene: tuple[PrometheusProcess, MonitorProcess], panel: Panel
) -> None:
    prometheus, _ = scene

    def result() -> Any:
        return prometheus.get("query", query=panel.expression)["result"]

    labels = re.findall(r"{{(\w+)}}", panel.legend)
    for series in wait_for(result, panel.expression):
        assert [label for label in labels if label not in series["metric"]] == []


def test_alerts_are_those_that_prometheus_finds(
    scene: tuple[PrometheusProcess, MonitorProcess],
) -> None:
    prometheus, monitor = scene

    def theirs() -> Any:
        return _firing(prometheus.get("alerts"))

    def ours() -> Any:
        return _firing(monitor.get("/api/v1/alerts")["data"])

    wait_for(ours, until=lambda found: found == FIRING)
    wait_for(theirs, until=lambda found: found == FIRING)


def _firing(alerts: Any) -> set[tuple[str, str]]:
    return {
        (labels["alertname"], _what(labels))
        for each in alerts["alerts"]
        if each["state"] == "firing"
        for labels in (each["labels"],)
        # Prometheus looks at all topics, the platform's own as well.
        if labels.get("topic", "orders") == "orders"
    }


def _what(labels: dict[str, str]) -> str:
    if "broker" in labels:
        return f"broker {labels['broker']}"
    return labels.get("group") or labels["topic"]


def test_rules_are_told_as_prometheus_tells_them(
    scene: tuple[PrometheusProcess, MonitorProcess],
) -> None:
    prometheus, monitor = scene
    (theirs,) = prometheus.get("rules")["groups"]
    (ours,) = monitor.get("/api/v1/rules")["data"]["groups"]
    assert ours["name"] == theirs["name"]
    assert [rule["name"] for rule in theirs["rules"]][1:] == [r["name"] for r in ours["rules"]]
    for mine, other in zip(ours["rules"], theirs["rules"][1:], strict=True):
        assert mine.keys() <= other.keys()
        for field in ("name", "duration", "labels", "type"):
            assert mine[field] == other[field], field


def test_the_usual_rules_are_taken(tmp_path: Path) -> None:
    (tmp_path / "rules.yml").write_text(Cli("").ok("monitor", "rules"))
    command = ["promtool", "check", "rules", str(tmp_path / "rules.yml")]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert f"{len(DEFAULT_RULES) + 1} rules found" in checked.stdout


def test_dashboards_are_written_as_files(tmp_path: Path) -> None:
    Cli("").ok("monitor", "dashboards", str(tmp_path / "new"))
    for dashboard in DASHBOARDS:
        document = json.loads((tmp_path / "new" / f"{dashboard.name}.json").read_text())
        shown = [panel["targets"][0]["expr"] for panel in document["panels"]]
        assert shown == [panel.expression for panel in dashboard.panels]
        places = {(each["gridPos"]["x"], each["gridPos"]["y"]) for each in document["panels"]}
        assert len(places) == len(dashboard.panels)
