"""Every example of the page about Connect is run, with one standalone worker."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import psutil
from tests.connect_process import WITHIN_S, ConnectProcess
from tests.docs_page import ROOT, blocks, commands, run_command
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest
    from tests.broker_process import BrokerProcess

PAGE = ROOT / "docs/connect.md"
FILES = ("connect-standalone", "connect-file-source", "connect-file-sink")


def java_options(worker: ConnectProcess) -> list[str]:
    (java,) = (
        each
        for each in psutil.Process(worker.pid).children(recursive=True)
        if each.name().startswith("java")
    )
    return [word for word in java.cmdline() if word.startswith("-XX:")]


def test_examples(
    tmp_path: Path, start_broker: Callable[..., BrokerProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = start_broker()
    for block in blocks(PAGE, "properties"):
        name = block.splitlines()[0].removeprefix("# ")
        # The worker of the page runs where the files are.
        text = block.replace("file=test", f"file={tmp_path}/test")
        (tmp_path / name).write_text(text.replace("localhost:9092", broker.bootstrap_servers))
    (orders,) = blocks(PAGE, "json")
    (tmp_path / "orders.json").write_text(orders)
    arguments = ["standalone", *(str(tmp_path / f"{name}.properties") for name in FILES)]
    worker = ConnectProcess(broker.bootstrap_servers, arguments)
    examples = commands(PAGE)
    assert len(examples) == 26
    try:
        for command in examples:
            if shlex.split(command.line)[:3] == ["headwater", "connect", "standalone"]:
                worker.start()
                monkeypatch.setenv("HEADWATER_CONNECT", worker.url)
                copy = tmp_path / "test.sink.txt"
                wait_for(
                    lambda: copy.exists() and copy.read_text() == "foo\nbar\n",  # noqa: B023
                    lambda: str(worker.get("/connectors?expand=status")),
                    within_s=WITHIN_S,
                )
                assert set(java_options(worker)) >= {"-XX:+UseSerialGC", "-XX:MaxHeapFreeRatio=40"}
                continue
            if "preview" in command.line:
                worker.stop()  # one JVM at a time
            plain = command.line.startswith("curl") and ">" not in command.line
            line = f"{command.line} && echo" if plain and command.expected else command.line
            moved = command._replace(line=line.replace("http://localhost:8083", worker.url))
            if "connect list" in line:
                wait_for(lambda: worker.get("/connectors/local-file-sink/status")["tasks"])
            run_command(moved, broker.bootstrap_servers, tmp_path)
    finally:
        worker.stop()
