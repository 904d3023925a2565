"""`headwater run` as a user types it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from confluent_kafka.admin import AdminClient, NewTopic

if TYPE_CHECKING:
    from pathlib import Path

    from tests.broker_process import BrokerProcess

PROGRAM = """
from headwater.streams import App, col
from limits import LIMIT

app = App("alerts")
readings = app.stream("TOPIC", value_type="id string, value bigint")
readings.filter(col("value") > LIMIT).to("TOPIC-alerts")
"""


def program(tmp_path: Path, topic: str) -> Path:
    (tmp_path / "limits.py").write_text("LIMIT = 5\n")
    path = tmp_path / "alerts.py"
    path.write_text(PROGRAM.replace("TOPIC", topic))
    return path


def command(path: Path, broker: BrokerProcess, *options: str) -> list[str]:
    return [
        *(sys.executable, "-m", "headwater", "run", str(path), *options),
        *("--bootstrap-server", broker.bootstrap_servers),
        *("--checkpoint-dir", str(path.parent / "checkpoint")),
    ]


def test_a_program_is_shown_or_refused_without_spark(
    broker: BrokerProcess, topic: str, tmp_path: Path
) -> None:
    path = program(tmp_path, topic)
    shown = subprocess.run(command(path, broker, "--describe"), capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    assert "KSTREAM-FILTER-0000000001" in shown.stdout
    refused = subprocess.run(command(path, broker), capture_output=True, text=True)
    assert refused.returncode == 1
    assert f"alerts.py:6: there is no topic '{topic}' to read from" in refused.stderr
    path.write_text("x = 1\n")
    nothing = subprocess.run(command(path, broker), capture_output=True, text=True)
    assert "has no App at its top level" in nothing.stderr
    path.write_text("import nothing_like_this\n")
    broken = subprocess.run(command(path, broker), capture_output=True, text=True)
    assert "alerts.py:1: ModuleNotFoundError" in broken.stderr


def test_ctrl_c_ends_a_run_cleanly(broker: BrokerProcess, topic: str, tmp_path: Path) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result()
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command(program(tmp_path, topic), broker),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if "alerts: running" in line:
                break
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=200)
    finally:
        process.kill()
    text = "".join(lines) + rest
    assert process.returncode == 0, text
    assert f"{topic}: stopped" in text
    assert "Traceback" not in text
    assert "ERROR" not in text
