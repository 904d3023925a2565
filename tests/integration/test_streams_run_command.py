"""`headwater run` as a user types it."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import urllib.request
from subprocess import PIPE, STDOUT, Popen
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import psutil
import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.broker_process import BrokerProcess

PROGRAM = """
from headwater.streams import App, col
from limits import LIMIT

app = App("alerts", stores_dir=f"{__file__}.stores")
readings = app.stream("TOPIC", value_type="id string, value bigint")
readings.filter(col("value") > LIMIT).to("TOPIC-alerts")
"""
COUNTS = """
counts = readings.group_by_key().count(emit="record")
counts.to_stream().to("TOPIC-counts")
counts.store("counts")
"""
WITHIN_S = 240


def program(tmp_path: Path, topic: str, more: str = "") -> Path:
    (tmp_path / "limits.py").write_text("LIMIT = 5\n")
    path = tmp_path / "alerts.py"
    path.write_text((PROGRAM + more).replace("TOPIC", topic))
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
    create(broker, topic)
    taken = subprocess.run(
        command(path, broker, "--metrics-port", str(broker.port)), capture_output=True, text=True
    )
    assert f"metrics cannot be served on port {broker.port}" in taken.stderr
    path.write_text("x = 1\n")
    nothing = subprocess.run(command(path, broker), capture_output=True, text=True)
    assert "has no App at its top level" in nothing.stderr
    path.write_text("import nothing_like_this\n")
    broken = subprocess.run(command(path, broker), capture_output=True, text=True)
    assert "alerts.py:1: ModuleNotFoundError" in broken.stderr


def start(arguments: list[str], tmp_path: Path, terminal: int | None = None) -> Popen[str]:
    """Start a run whose temporary files can be looked at, on a terminal if one is given."""
    (tmp_path / "tmp").mkdir()
    environment = {
        **os.environ,
        "PYTHONUNBUFFERED": "1",
        "TMPDIR": str(tmp_path / "tmp"),
        "TERM": "xterm",
    }
    if terminal is None:
        return Popen(arguments, stdout=PIPE, stderr=STDOUT, text=True, env=environment)
    return Popen(arguments, env=environment, preexec_fn=lambda: os.login_tty(terminal), text=True)


class Terminal:
    """A terminal of 24 lines, read as a program that a user sits at would be."""

    def __init__(self, columns: int) -> None:
        self.ours, self.theirs = pty.openpty()
        size = struct.pack("HHHH", 24, columns, 0, 0)
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, size)
        self.text = ""
        self.process: Popen[str] | None = None

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        os.close(self.ours)

    def run(self, arguments: list[str], tmp_path: Path) -> None:
        self.process = start(arguments, tmp_path, self.theirs)
        os.close(self.theirs)

    def press(self, keys: bytes) -> None:
        os.write(self.ours, keys)

    def read(self, timeout_s: float = 0.2) -> bool:
        """Take what was written since; false when the program has ended."""
        if not select.select([self.ours], [], [], timeout_s)[0]:
            return True
        try:
            data = os.read(self.ours, 1 << 16)
        except OSError:  # how Linux says that nobody has the other end any more
            return False
        self.text += data.decode("utf-8", "replace")
        return bool(data)

    def wait_for(self, pattern: str) -> re.Match[str]:
        deadline = time.monotonic() + WITHIN_S
        while (found := re.search(pattern, self.text)) is None:
            assert self.read(), f"it ended:\n{self.text}"
            assert time.monotonic() < deadline, f"{pattern} never came:\n{self.text}"
        return found


def _told(broker: BrokerProcess) -> dict[str, Any] | None:
    """Return what the program has told of itself last, for whoever sees its cluster."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "unused",
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition("_headwater_programs", 0, OFFSET_BEGINNING)])
    last: dict[str, Any] | None = None
    while (message := consumer.poll(WITHIN_S)) is not None and message.error() is None:
        if message.key() == b"run/alerts":
            value = message.value()
            last = None if value is None else json.loads(value)
    consumer.close()
    return last


def _is_told(told: dict[str, Any] | None) -> bool:
    if told is None:
        return False
    assert [operator["kind"] for stage in told["stages"] for operator in stage["operators"]]
    stages = {stage["name"] for stage in told["stages"]}
    assert {query["stage"] for query in told["queries"]} <= stages
    return [query["rows"] for query in told["queries"]] == [20, 20]


def test_a_run_on_a_terminal_until_ctrl_c(
    broker: BrokerProcess, topic: str, tmp_path: Path
) -> None:
    topic = f"t{topic[-8:]}"  # short enough for a line of the table
    create(broker, topic)
    path = program(tmp_path, topic, COUNTS)
    produce(broker, topic, range(20))
    ports = ("--metrics-port", "0", "--stores-port", "0")
    options = (*ports, "--conf", "spark.headwater.realTime=false")
    with Terminal(columns=80) as terminal:
        terminal.run(command(path, broker, *options), tmp_path)
        address = terminal.wait_for(r"metrics at (http://\S+/metrics)")[1]
        stores = terminal.wait_for(r"look-ups at (http://\S+/stores)")[1]
        terminal.wait_for("alerts: running")

        def measured() -> dict[str, float]:
            terminal.read()
            return metrics(address)

        values = wait_for(measured, until=lambda found: found.get("rows_total") == 40)
        values = wait_for(measured, until=lambda found: found["lag_records"] == 0)
        assert values["state_rows"] == 5, "a row for each key"
        assert values["restarts_total"] == 0
        assert values["up"] == 2, "both queries"
        read = quote(json.dumps({topic: {"0": 20}}))
        wait_for(lambda: (terminal.read(), _told(broker))[1], until=_is_told)
        asked = f"{stores}/counts/entries?at_least={read}&timeout_ms={WITHIN_S * 1000}"
        with urllib.request.urlopen(asked) as answer:
            entries = json.load(answer)["entries"]
        assert sum(entry["value"]["count"] for entry in entries) == 20
        assert len(entries) == 5
        terminal.wait_for(rf"{topic}-aggregate +running +0 ")
        terminal.press(b"\x03")
        while terminal.read():
            pass
        assert terminal.process is not None
        code = terminal.process.wait(WITHIN_S)
    assert code == 0, terminal.text
    assert _told(broker) is None, "it has said good-bye"
    assert "alerts: stopping" in terminal.text
    assert re.search(rf"{topic}-aggregate +stopped", terminal.text)
    assert terminal.text.rfind("\x1b[?25h") > terminal.text.rfind("\x1b[?25l"), "the cursor is back"
    assert "Traceback" not in terminal.text
    assert [*(tmp_path / "tmp").iterdir()] == []


@pytest.mark.parametrize("listens", [False, True], ids=["at-once", "once-the-jvm-listens"])
def test_ctrl_c_does_not_wait_for_spark_to_start(
    broker: BrokerProcess, topic: str, tmp_path: Path, listens: bool
) -> None:
    create(broker, topic)
    process = start(command(program(tmp_path, topic), broker), tmp_path)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if "alerts: starting Spark" in line:
                break
        wait_for(lambda: [*psutil.Process(process.pid).children()], "the JVM")
        jvm = psutil.Process(process.pid).children()
        if listens:  # Python talks with it from then on
            wait_for(lambda: any(each.net_connections() for each in jvm), "its port")
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=WITHIN_S)
    finally:
        process.kill()
    assert process.returncode == 0, text
    assert "alerts: stopping" in text
    assert "running" not in text, "it was not waited for"
    assert "Traceback" not in text
    assert "rror" not in text
    assert psutil.wait_procs(jvm, WITHIN_S)[1] == []
    assert [*(tmp_path / "tmp").iterdir()] == []


def test_sigterm_ends_a_run_cleanly(broker: BrokerProcess, topic: str, tmp_path: Path) -> None:
    create(broker, topic)
    process = start(command(program(tmp_path, topic), broker), tmp_path)
    try:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if "alerts: running" in line:
                break
        process.terminate()
        rest, _ = process.communicate(timeout=WITHIN_S)
    finally:
        process.kill()
    text = "".join(lines) + rest
    assert process.returncode == 0, text
    assert f"{topic}: stopped" in text
    assert "Traceback" not in text
    assert "ERROR" not in text
    assert [*(tmp_path / "tmp").iterdir()] == []


def create(broker: BrokerProcess, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result()


def produce(broker: BrokerProcess, topic: str, values: Iterable[int]) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    for value in values:
        producer.produce(topic, f'{{"id": "s{value}", "value": {value}}}', f"k{value % 5}")
    assert producer.flush(60) == 0


def metrics(address: str) -> dict[str, float]:
    """Return the metrics of all queries, added up."""
    with urllib.request.urlopen(address) as answer:
        text = answer.read().decode()
    found: dict[str, float] = {}
    for name, value in re.findall(r"^headwater_query_(\w+)\{.*\} (\S+)$", text, re.MULTILINE):
        found[name] = found.get(name, 0.0) + float(value)
    return found
