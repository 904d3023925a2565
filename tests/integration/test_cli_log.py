"""`headwater log dump` on files that a broker wrote."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.cli_command import Cli
from tests.integration.raw_requests import create_topic, produce
from tests.integration.record_batches import Message, batch_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.broker_process import BrokerProcess
    from tests.integration.raw_client import RawClient


@pytest.fixture
def cli(broker: BrokerProcess) -> Cli:
    return Cli(broker.bootstrap_servers)


@pytest.fixture
def directory(broker: BrokerProcess, client: RawClient, topic: str) -> Path:
    """The directory of a partition with two batches: a plain one, and one with zstd.

    Sent as batches, since what a producer puts into one is a matter of time.
    """
    created = create_topic(client, topic)
    pair = [Message(f"v{n}".encode(), f"k{n}".encode(), headers=[("h", b"1")]) for n in (1, 2)]
    produce(client, created, batch_of(pair))
    produce(client, created, batch_of([b"z" * 500], "zstd"))
    (found,) = broker.data_dir.rglob(f"{topic}-0")
    return found


def test_batches(cli: Cli, directory: Path) -> None:
    file = directory / "00000000000000000000.log"
    head, start, first, second = cli.ok("log", "dump", file).splitlines()
    assert head == f"Dumping {file}"
    assert start == "Log starting offset: 0"
    assert first.startswith("baseOffset: 0 lastOffset: 1 count: 2 ")
    assert first.endswith("isvalid: true")
    assert "compresscodec: zstd" in second


def test_records_and_their_data(cli: Cli, directory: Path) -> None:
    file = directory / "00000000000000000000.log"
    deep = cli.ok("log", "dump", file, "--deep-iteration")
    assert deep.count("| offset: ") == 3
    assert "payload" not in deep
    data = cli.ok("log", "dump", file, "--print-data-log")
    assert "headerKeys: [h] key: k1 payload: v1" in data
    assert f"payload: {'z' * 500}" in data


def test_json(cli: Cli, directory: Path) -> None:
    out = cli.ok(
        "log", "dump", directory / "00000000000000000000.log", "--print-data-log", "--json"
    )
    lines = [json.loads(line) for line in out.splitlines()]
    batches = [line for line in lines if line["type"] == "batch"]
    records = [line for line in lines if line["type"] == "record"]
    assert [batch["recordCount"] for batch in batches] == [2, 1]
    assert [batch["compression"] for batch in batches] == ["none", "zstd"]
    assert all(batch["isValid"] for batch in batches)
    assert [(record["key"], record["value"]) for record in records[:2]] == [
        ("k1", "v1"),
        ("k2", "v2"),
    ]
    assert records[0]["headers"] == [{"key": "h", "value": "1"}]


def test_a_whole_directory(cli: Cli, directory: Path) -> None:
    out = cli.ok("log", "dump", directory)
    dumped = [line.rsplit(".", 1)[1] for line in out.splitlines() if line.startswith("Dumping ")]
    assert {"log", "index", "timeindex"} <= set(dumped)


def test_a_flipped_bit_is_found(cli: Cli, directory: Path, tmp_path: Path) -> None:
    data = bytearray((directory / "00000000000000000000.log").read_bytes())
    data[65] ^= 1
    copy = tmp_path / "00000000000000000000.log"
    copy.write_bytes(data)
    dumped = cli("log", "dump", copy)
    assert dumped.code == 1
    assert "isvalid: false" in dumped.out
    assert f"damaged: {copy}" in dumped.err


def test_what_is_no_log_file(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("hello")
    assert cli("log", "dump", file).code == 1
    assert "no file of a log" in cli("log", "dump", tmp_path).err
    assert cli("log", "dump", tmp_path / "missing.log").code == 2
