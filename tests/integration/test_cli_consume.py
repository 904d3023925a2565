"""`headwater consume` against a running broker: where it starts, where it ends, what it prints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.cli_command import Cli

if TYPE_CHECKING:
    from tests.broker_process import BrokerProcess
    from tests.conftest import StartBroker


@pytest.fixture
def cli(broker: BrokerProcess) -> Cli:
    return Cli(broker.bootstrap_servers)


@pytest.fixture
def ten(cli: Cli, topic: str) -> str:
    """A topic with one partition and the values 0 to 9, a second apart from 2026 on."""
    cli.ok("topics", "create", topic, "--partitions", 1, "--config", "retention.ms=-1")
    lines = [{"value": str(n), "timestamp": 1767225600000 + 1000 * n} for n in range(10)]
    cli.ok("produce", topic, "--json", stdin="\n".join(json.dumps(line) for line in lines))
    return topic


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        ("earliest", range(10)),
        ("latest", range(0)),
        ("7", range(7, 10)),
        ("-3", range(7, 10)),
        ("-300", range(10)),
        ("@1767225604001", range(5, 10)),
        ("2026-01-01T00:00:08Z", range(8, 10)),
        ("2026-01-01T01:00:08+01:00", range(8, 10)),
        ("2026-02-01", range(0)),
    ],
)
def test_start_positions(cli: Cli, ten: str, position: str, expected: range) -> None:
    out = cli.ok("consume", ten, "--offset", position, "--until-end")
    assert out.splitlines() == [str(number) for number in expected]


def test_an_offset_out_of_range_is_moved_into_it_and_said(cli: Cli, ten: str) -> None:
    moved = cli("consume", ten, "--offset", 50, "--until-end")
    assert (moved.code, moved.out) == (0, "")
    assert f"{ten} [0] starts at offset 10 instead of 50" in moved.err


def test_max_messages(cli: Cli, ten: str) -> None:
    assert cli.ok("consume", ten, "--from-beginning", "--max-messages", 3) == "0\n1\n2\n"


def test_timeout_without_enough_records_is_a_failure(cli: Cli, ten: str) -> None:
    short = cli("consume", ten, "--offset", 8, "--max-messages", 5, "--timeout", 0.5)
    assert (short.code, short.out) == (1, "8\n9\n")
    assert "only 2 of 5 records came" in short.err
    assert cli("consume", ten, "--offset", 8, "--timeout", 0.5).code == 0


def test_new_records_are_printed_as_they_come_until_ctrl_c(cli: Cli, ten: str) -> None:
    with cli.start("consume", ten, "--verbose") as running:
        assert "starts at offset 10" in running.stderr.readline()
        cli.ok("produce", ten, stdin="new\n")
        assert running.stdout.readline() == "new\n"
        assert running.interrupt() == 130
        assert (running.stdout.read(), running.stderr.read()) == ("", "")


def test_a_reader_that_goes_away_ends_it_quietly(cli: Cli, ten: str) -> None:
    with cli.start("consume", ten, "--from-beginning") as running:
        assert running.stdout.readline() == "0\n"
        running.stdout.close()
        cli.ok("produce", ten, stdin="one more\n")
        assert running.process.wait() == 0
        assert running.stderr.read() == ""


def test_until_end_ends_at_the_end_of_this_moment_in_every_partition(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic, "--partitions", 4)
    for partition in (0, 2):
        cli.ok("produce", topic, "--partition", partition, stdin=f"in {partition}\n")
    out = cli.ok("consume", topic, "--from-beginning", "--until-end")
    assert sorted(out.splitlines()) == ["in 0", "in 2"]


def test_until_end_of_a_topic_without_records(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic)
    assert cli.ok("consume", topic, "--from-beginning", "--until-end") == ""


def test_chosen_partitions(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic, "--partitions", 3)
    for partition in range(3):
        cli.ok("produce", topic, "--partition", partition, stdin=f"in {partition}\n")
    out = cli.ok("consume", topic, "--from-beginning", "-e", "-p", 0, "-p", 2)
    assert sorted(out.splitlines()) == ["in 0", "in 2"]
    wrong = cli("consume", topic, "--partition", 3)
    assert wrong.code == 1
    assert "its partitions are 0 to 2" in wrong.err


@pytest.fixture
def rich(cli: Cli, topic: str) -> str:
    """A record with key and headers, and a tombstone."""
    cli.ok("topics", "create", topic, "--partitions", 1)
    cli.ok(
        *("produce", topic, "--parse-headers", "--parse-key", "--null-marker", "NULL"),
        *("--timestamp", 1767225600000),
        stdin="a:1,b:2\tk1\tv1\n\tk2\tNULL\n",
    )
    return topic


def test_keys_and_headers(cli: Cli, rich: str) -> None:
    everything = ("consume", rich, "--from-beginning", "--until-end")
    assert cli.ok(*everything) == "v1\nnull\n"
    assert cli.ok(*everything, "--keys") == "k1\tv1\nk2\tnull\n"
    assert cli.ok(*everything, "--keys", "--key-separator", " = ") == "k1 = v1\nk2 = null\n"
    assert cli.ok(*everything, "--keys", "--headers") == "a:1,b:2\tk1\tv1\n\tk2\tnull\n"
    assert cli.ok(*everything, "--null-marker", "<gone>") == "v1\n<gone>\n"


def test_format(cli: Cli, rich: str) -> None:
    out = cli.ok(
        *("consume", rich, "--from-beginning", "--until-end"),
        *("--format", r"%t|%p|%o|%T|%k|%v|%s|%h|%K|%S|%%\x21\n"),
    )
    assert out.splitlines() == [
        f"{rich}|0|0|1767225600000|k1|v1|v1|a:1,b:2|2|2|%!",
        f"{rich}|0|1|1767225600000|k2|null|null||2|-1|%!",
    ]


def test_json(cli: Cli, rich: str) -> None:
    first, second = cli.records(rich)
    assert first == {
        "topic": rich,
        "partition": 0,
        "offset": 0,
        "timestamp": 1767225600000,
        "timestamp_type": "CreateTime",
        "headers": [{"key": "a", "value": "1"}, {"key": "b", "value": "2"}],
        "key": "k1",
        "value": "v1",
    }
    assert (second["key"], second["value"]) == ("k2", None)


def test_log_append_time_is_shown(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic, "--config", "message.timestamp.type=LogAppendTime")
    cli.ok("produce", topic, stdin="a\n")
    assert cli.records(topic)[0]["timestamp_type"] == "LogAppendTime"


def test_an_unknown_topic_is_not_created(cli: Cli, topic: str) -> None:
    missing = cli("consume", topic, "--from-beginning")
    assert missing.code == 1
    assert f"there is no topic '{topic}'" in missing.err
    assert topic not in cli.ok("topics", "list").splitlines()


def test_many_records_come_whole_and_in_order(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic, "--partitions", 1)
    lines = "".join(f"{number:07d}\n" for number in range(100_000))
    cli.ok("produce", topic, stdin=lines)
    assert cli.ok("consume", topic, "--from-beginning", "--until-end") == lines


def test_a_restart_of_the_broker_is_survived_and_said(
    start_broker: StartBroker, topic: str
) -> None:
    broker = start_broker()
    cli = Cli(broker.bootstrap_servers)
    cli.ok("topics", "create", topic)
    cli.ok("produce", topic, stdin="before\n")
    with cli.start("consume", topic, "--from-beginning") as running:
        assert running.stdout.readline() == "before\n"
        broker.stop()
        assert "Lost the connection" in running.stderr.readline()
        broker.start()
        cli.ok("produce", topic, stdin="after\n")
        assert running.stdout.readline() == "after\n"
        assert running.interrupt() == 130


def test_ctrl_c_works_without_a_broker(start_broker: StartBroker, topic: str) -> None:
    broker = start_broker()
    cli = Cli(broker.bootstrap_servers)
    cli.ok("topics", "create", topic)
    with cli.start("consume", topic, "--verbose") as running:
        assert "starts at offset 0" in running.stderr.readline()
        broker.stop()
        assert "Lost the connection" in running.stderr.readline()
        assert running.interrupt() == 130
