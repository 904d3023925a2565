"""`headwater perf`: what it counts is what the topic holds. No speed is asserted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cli_command import Cli

if TYPE_CHECKING:
    from tests.broker_process import BrokerProcess


@pytest.fixture
def cli(broker: BrokerProcess) -> Cli:
    return Cli(broker.bootstrap_servers)


def _records_in(cli: Cli, topic: str) -> int:
    (described,) = cli.json("topics", "describe", topic, "--offsets")
    return sum(each["end_offset"] - each["start_offset"] for each in described["partitions"])


@pytest.mark.parametrize("processes", [1, 2])
def test_produce_then_consume(cli: Cli, topic: str, processes: int) -> None:
    cli.ok("topics", "create", topic, "--partitions", 2)
    sent = cli.json(
        *("perf", "produce", topic, "--num-records", 12_345, "--record-size", 50),
        *("--processes", processes),
    )
    assert (sent["records"], sent["bytes"]) == (12_345, 12_345 * 50)
    assert sent["latency_ms"]["50th"] <= sent["latency_ms"]["99.9th"] <= sent["latency_ms"]["max"]
    assert _records_in(cli, topic) == 12_345

    read = cli.json("perf", "consume", topic, "--processes", processes)
    assert (read["records"], read["bytes"]) == (12_345, 12_345 * 50)


def test_the_printed_lines(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic, "--partitions", 1)
    sent = cli.ok("perf", "produce", topic, "--num-records", 2000, "--compression", "lz4")
    assert sent.startswith("2000 records sent, ")
    for words in (" records/sec (", " MB/sec)", " ms avg latency", " ms max latency", " ms 99.9th"):
        assert words in sent
    assert cli.ok("perf", "consume", topic).startswith("2000 records read, ")
    few = cli.json("perf", "consume", topic, "--num-records", 100)
    assert few["records"] >= 100


def test_a_queue_that_is_too_small_loses_nothing(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic)
    cli.ok(
        *("perf", "produce", topic, "--num-records", 5000),
        *("--property", "queue.buffering.max.messages=700"),
    )
    assert _records_in(cli, topic) == 5000


def test_throughput_is_kept(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic)
    sent = cli.json("perf", "produce", topic, "--num-records", 400, "--throughput", 1000)
    assert sent["records"] == 400
    assert sent["seconds"] >= 0.35


def test_latency(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic)
    measured = cli.json("perf", "latency", topic, "--num-records", 200)
    assert (measured["records"], measured["latency_samples"]) == (200, 200)
    assert 0 < measured["latency_ms"]["50th"] <= measured["latency_ms"]["max"]


def test_failures_are_said(cli: Cli, topic: str) -> None:
    missing = cli("perf", "produce", topic)
    assert missing.code == 1
    assert f"there is no topic '{topic}'" in missing.err
    cli.ok("topics", "create", topic, "--config", "max.message.bytes=1000")
    for processes in (1, 2):
        large = cli(
            *("perf", "produce", topic, "--num-records", 10, "--record-size", 5000),
            *("--processes", processes),
        )
        assert large.code == 1
        assert "MSG_SIZE_TOO_LARGE" in large.err


def test_ctrl_c_ends_all_processes(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic)
    with cli.start(
        *("perf", "produce", topic, "--num-records", 10**9, "--throughput", 1000),
        *("--processes", 2),
    ) as running:
        # It prints a line every few seconds, once its workers work.
        assert "records sent" in running.stderr.readline()
        assert running.interrupt() == 130
        assert running.stderr.read() == ""
