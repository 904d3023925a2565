"""`headwater connect --engine kafka`: Kafka's own worker, with a connector that is a jar."""

from __future__ import annotations

import json
import os
import shlex
import signal
from typing import TYPE_CHECKING

import psutil
from tests.connect_process import WITHIN_S, ConnectProcess
from tests.docs_page import ROOT, blocks, commands, run_command
from tests.waiting import wait_for

from headwater.cluster.kafka import VERSION
from headwater.java.artifacts import fetch

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from tests.broker_process import BrokerProcess

PAGE = ROOT / "docs/connect-jars.md"
# A worker that was killed is waited for: in its group for minutes, in its sinks' for 45 seconds.
QUICK = (
    *("--property", "scheduled.rebalance.max.delay.ms=0"),
    *("--property", "session.timeout.ms=6000"),
    *("--property", "consumer.session.timeout.ms=6000"),
)
COORDINATE = f"org.apache.kafka:connect-file:{VERSION}"
STRINGS = {
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
}


def add_lines(file: Path, numbers: range) -> list[str]:
    lines = [f"line {number}" for number in numbers]
    with file.open("a") as written:
        written.writelines(f"{line}\n" for line in lines)
    return lines


def wait_for_lines(copy: Path, lines: list[str]) -> None:
    wait_for(
        lambda: set(lines) - set(copy.read_text().splitlines() if copy.exists() else ()),
        "every line is in the sink's file",
        until=lambda missing: not missing,
        within_s=WITHIN_S,
    )


def java_of(worker: ConnectProcess) -> psutil.Process:
    (java,) = (
        each for each in psutil.Process(worker.pid).children() if each.name().startswith("java")
    )
    return java


def test_our_commands_manage_a_worker_of_kafka_that_is_killed_and_comes_back(
    broker: BrokerProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, copy = tmp_path / "test.txt", tmp_path / "copy.txt"
    for block in blocks(PAGE, "json"):
        found = json.loads(block)
        # The worker of the page runs where the files are.
        found["config"]["file"] = str(tmp_path / found["config"]["file"])
        (tmp_path / f"{found['name']}.json").write_text(json.dumps(found))
    worker = ConnectProcess(broker.bootstrap_servers)
    examples = commands(PAGE)
    assert len(examples) == 10
    try:
        for command in examples:
            asked = shlex.split(command.line)
            if asked[:3] == ["headwater", "connect", "worker"]:
                worker.arguments = [*asked[2:], *QUICK]
                worker.start()
                monkeypatch.setenv("HEADWATER_CONNECT", worker.url)
                continue
            if asked[0] == "cat":
                wait_for_lines(copy, ["foo", "bar"])
            run_command(command, broker.bootstrap_servers, tmp_path)

        java_of(worker).kill()
        assert worker.says("ended by itself: SIGKILL")
        wait_for(lambda: not worker.running)
        lines = add_lines(source, range(100))
        worker.start()
        wait_for_lines(copy, lines)

        # Whoever is killed alone does not leave a worker behind that nobody knows of.
        java = java_of(worker)
        worker.kill()
        java.wait(WITHIN_S)
    finally:
        if worker.running:
            worker.stop()


def test_standalone_has_the_connectors_of_its_files_and_ends_well_on_ctrl_c(
    broker: BrokerProcess, topic: str, tmp_path: Path
) -> None:
    source, copy = tmp_path / "lines.txt", tmp_path / "copy.txt"
    lines = add_lines(source, range(10))
    jars = fetch("connect-file", [COORDINATE], transitive=False)[0].parent
    own = tmp_path / "worker.properties"
    strings = "".join(f"{name}={value}\n" for name, value in STRINGS.items())
    own.write_text(
        f"offset.storage.file.filename={tmp_path}/offsets\nplugin.path={jars}\n{strings}"
    )
    files = []
    for kind, file, subject in (("Source", source, "topic"), ("Sink", copy, "topics")):
        files.append(tmp_path / f"{kind}.properties")
        files[-1].write_text(
            f"name={kind}\nconnector.class=FileStream{kind}\nfile={file}\n{subject}={topic}\n"
        )
    worker = ConnectProcess(
        broker.bootstrap_servers,
        ["standalone", "--engine", "kafka", str(own), *map(str, files)],
    ).start()
    try:
        wait_for_lines(copy, lines)
        os.kill(worker.pid, signal.SIGINT)
        wait_for(lambda: not worker.running)
        assert worker.says("stopped")
    finally:
        if worker.running:
            worker.kill()
    assert (tmp_path / "offsets").stat().st_size > 0
    assert copy.read_text().splitlines() == lines
