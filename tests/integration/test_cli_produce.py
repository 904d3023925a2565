"""`headwater produce` against a running broker: what arrives is what the input said."""

from __future__ import annotations

import base64
import json
import subprocess
from collections import Counter
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING

import pytest
from kafka import KafkaConsumer, TopicPartition
from kafka.partitioner.default import murmur2
from tests.cli_command import Cli

if TYPE_CHECKING:
    from pathlib import Path

    from tests.broker_process import BrokerProcess
    from tests.conftest import StartBroker


@pytest.fixture
def cli(broker: BrokerProcess) -> Cli:
    return Cli(broker.bootstrap_servers)


@pytest.fixture
def one(cli: Cli, topic: str) -> str:
    """A topic with one partition, so that the order is the input's."""
    cli.ok("topics", "create", topic, "--partitions", 1)
    return topic


def test_lines_become_values(cli: Cli, one: str) -> None:
    produced = cli("produce", one, stdin="a\nb\r\n\nü\nlast without an end")
    assert (produced.code, produced.out, produced.err) == (0, "", "")
    values = [record["value"] for record in cli.records(one)]
    assert values == ["a", "b", "", "ü", "last without an end"]
    assert all(record["key"] is None for record in cli.records(one))


def test_keys_nulls_and_fixed_headers(cli: Cli, one: str) -> None:
    cli.ok(
        *("produce", one, "--key-separator", "::", "--null-marker", "NULL"),
        *("--header", "h=1", "--header", "h=2"),
        stdin="k1::v::1\nk2::NULL\nNULL::v3\n",
    )
    records = cli.records(one)
    assert [(record["key"], record["value"]) for record in records] == [
        ("k1", "v::1"),
        ("k2", None),
        (None, "v3"),
    ]
    assert records[0]["headers"] == [{"key": "h", "value": "1"}, {"key": "h", "value": "2"}]


def test_keys_go_where_kafkas_own_clients_put_them(cli: Cli, topic: str) -> None:
    # Kafka's own test values of its hash.
    known = {
        "21": -973932308,
        "foobar": -790332482,
        "a-little-bit-long-string": -985981536,
        "a-little-bit-longer-string": -1486304829,
        "abc": 479470107,
    }
    partitions = 7
    keys = ["", *known, *(f"sensor-{number}" for number in range(50))]
    cli.ok("topics", "create", topic, "--partitions", partitions)
    cli.ok("produce", topic, "--parse-key", stdin="".join(f"{key}\tv\n" for key in keys))
    places = {record["key"]: record["partition"] for record in cli.records(topic)}
    for key, hashed in known.items():
        assert places[key] == (hashed & 0x7FFFFFFF) % partitions
    # And another client's account of it.
    assert places == {key: (murmur2(key.encode()) & 0x7FFFFFFF) % partitions for key in keys}

    # A user's own word wins.
    chosen = ("--property", "partitioner=consistent")
    cli.ok("produce", topic, "--parse-key", *chosen, stdin="".join(f"{key}\tw\n" for key in keys))
    crc = {
        record["key"]: record["partition"]
        for record in cli.records(topic)
        if record["value"] == "w"
    }
    assert crc != places


def test_records_without_a_key_are_spread_over_all_partitions(
    cli: Cli, topic: str, broker: BrokerProcess
) -> None:
    partitions, without_key, with_key = 5, 300, 20
    cli.ok("topics", "create", topic, "--partitions", partitions)
    lines = ["NULL\tn\n"] * without_key + ["foobar\tk\n"] * with_key + ["\te\n"]
    cli.ok(
        *("produce", topic, "--parse-key", "--null-marker", "NULL"),
        # Without it, those of ten milliseconds stay together, to fill a batch.
        *("--property", "sticky.partitioning.linger.ms=0"),
        stdin="".join(lines),
    )
    consumer = KafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers, auto_offset_reset="earliest"
    )
    with closing(consumer):
        consumer.assign([TopicPartition(topic, number) for number in range(partitions)])
        records = list(islice(consumer, len(lines)))
    assert Counter(record.key for record in records) == {
        None: without_key,
        b"foobar": with_key,
        b"": 1,
    }
    places = {key: {r.partition for r in records if r.key == key} for key in (None, b"foobar", b"")}
    assert places == {
        None: set(range(partitions)),
        # Kafka's own test value of its hash; an empty key is a key.
        b"foobar": {(-790332482 & 0x7FFFFFFF) % partitions},
        b"": {(murmur2(b"") & 0x7FFFFFFF) % partitions},
    }


def test_headers_in_front_of_each_line(cli: Cli, one: str) -> None:
    cli.ok(
        *("produce", one, "--parse-headers", "--parse-key"),
        stdin="source:web,empty:\tk1\tv1\n\tk2\tv2\n",
    )
    first, second = cli.records(one)
    assert first["headers"] == [{"key": "source", "value": "web"}, {"key": "empty", "value": ""}]
    assert (first["key"], first["value"]) == ("k1", "v1")
    assert (second["headers"], second["key"]) == ([], "k2")


def test_partition_key_and_timestamp_for_all(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic, "--partitions", 3)
    cli.ok(
        *("produce", topic, "--partition", 2, "--key", "k"),
        *("--timestamp", "2026-01-01T00:00:00Z"),
        stdin="a\n",
    )
    (record,) = cli.records(topic)
    assert (record["partition"], record["key"]) == (2, "k")
    assert (record["timestamp"], record["timestamp_type"]) == (1767225600000, "CreateTime")


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_compression(cli: Cli, one: str, codec: str) -> None:
    cli.ok("produce", one, "--compression", codec, stdin="x" * 1000 + "\n")
    assert [record["value"] for record in cli.records(one)] == ["x" * 1000]


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_acks(cli: Cli, one: str, acks: str) -> None:
    cli.ok("produce", one, "--acks", acks, "--property", "linger.ms=1", stdin="a\n")
    out = cli.ok("consume", one, "--from-beginning", "--max-messages", 1)
    assert out == "a\n"


def test_json_lines(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic, "--partitions", 2)
    binary = base64.b64encode(b"\xff\x00").decode()
    lines = [
        {"value": "text", "key": "k", "partition": 1, "timestamp": 1767225600000},
        {"value": {"a": [1, None]}, "key": 7, "partition": 1, "headers": {"h": "x", "n": None}},
        {"value": None, "key": "gone", "partition": 1},
        {"value_base64": binary, "partition": 1, "headers": [{"key": "b", "value_base64": binary}]},
    ]
    cli.ok("produce", topic, "--json", stdin="\n".join(json.dumps(line) for line in lines))
    text, structured, tombstone, raw = cli.records(topic)
    assert (text["key"], text["value"], text["timestamp"]) == ("k", "text", 1767225600000)
    assert (structured["key"], structured["value"]) == ("7", '{"a":[1,null]}')
    assert structured["headers"] == [{"key": "h", "value": "x"}, {"key": "n", "value": None}]
    assert (tombstone["key"], tombstone["value"]) == ("gone", None)
    assert raw["value_base64"] == binary
    assert raw["headers"] == [{"key": "b", "value_base64": binary}]


def test_what_consume_prints_can_be_produced_again(cli: Cli, one: str) -> None:
    cli.ok("produce", one, "--parse-key", "--header", "h=1", stdin="a\t1\nb\t2\n")
    copied = cli.ok("consume", one, "--from-beginning", "--until-end", "--json")
    cli.ok("topics", "create", f"{one}-copy")
    cli.ok("produce", f"{one}-copy", "--json", stdin=copied)
    again = cli.records(f"{one}-copy")
    kept = ("key", "value", "headers", "timestamp", "offset", "partition")
    assert [{name: record[name] for name in kept} for record in again] == [
        {name: record[name] for name in kept} for record in cli.records(one)
    ]


def test_a_file(cli: Cli, one: str, tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_text("".join(f"{number}\n" for number in range(20_000)))
    produced = cli("produce", one, file)
    assert (produced.code, produced.err) == (0, "")
    out = cli.ok("consume", one, "--from-beginning", "--until-end")
    assert out == file.read_text()


def test_bytes_that_are_no_text(cli: Cli, one: str) -> None:
    cli.ok("produce", one, stdin=b"\xff\xfe\x00\n")
    assert cli.records(one)[0]["value_base64"] == base64.b64encode(b"\xff\xfe\x00").decode()


def test_a_wrong_line_names_its_number_and_keeps_what_came_before(cli: Cli, one: str) -> None:
    wrong = cli("produce", one, "--key-separator", ":", stdin="a:1\nb:2\nno key here\nc:3\n")
    assert wrong.code == 1
    assert "line 3: no ':' after the key" in wrong.err
    assert [record["key"] for record in cli.records(one)] == ["a", "b"]


def test_a_wrong_field_in_json_is_named(cli: Cli, one: str) -> None:
    wrong = cli("produce", one, "--json", stdin='{"sensor": 1}\n')
    assert wrong.code == 1
    assert "line 1: unknown field 'sensor'" in wrong.err


def test_a_record_that_is_too_large_is_counted_and_the_others_arrive(cli: Cli, one: str) -> None:
    large = cli("produce", one, stdin="before\n" + "x" * 2_000_000 + "\nafter\n")
    assert large.code == 1
    assert "1 of 3 records were not delivered" in large.err
    assert [record["value"] for record in cli.records(one)] == ["before", "after"]


def test_a_partition_that_is_not_there(cli: Cli, one: str) -> None:
    wrong = cli("produce", one, "--partition", 5, stdin="a\n")
    assert wrong.code == 1
    assert "has no partition 5" in wrong.err


def test_a_topic_that_the_broker_creates(cli: Cli, topic: str) -> None:
    produced = cli("produce", topic, stdin="a\n")
    assert produced.code == 0
    assert f"There is no topic '{topic}' yet" in produced.err
    assert [record["value"] for record in cli.records(topic)] == ["a"]


def test_a_topic_that_the_broker_does_not_create(start_broker: StartBroker, topic: str) -> None:
    broker = start_broker({"auto.create.topics.enable": "false"})
    cli = Cli(broker.bootstrap_servers)
    cli.ok("topics", "create", f"{topic}s")
    wrong = cli(
        *("produce", topic, "--property", "topic.metadata.propagation.max.ms=500"), stdin="a\nb\n"
    )
    assert wrong.code == 1
    assert "2 of 2 records were not delivered" in wrong.err
    assert f"Did you mean {topic}s?" in wrong.err


def test_a_broker_that_dies_makes_the_exit_code_1(start_broker: StartBroker, topic: str) -> None:
    broker = start_broker()
    cli = Cli(broker.bootstrap_servers)
    cli.ok("topics", "create", topic)
    producing = cli.start(
        *("produce", topic, "--property", "message.timeout.ms=2000"), stdin=subprocess.PIPE
    )
    with producing:
        assert producing.process.stdin is not None
        with cli.start("consume", topic, "--from-beginning") as consuming:
            producing.process.stdin.write("before\n")
            producing.process.stdin.flush()
            assert consuming.stdout.readline() == "before\n"
        broker.kill()
        producing.process.stdin.write("after\n")
        producing.process.stdin.flush()
        # Said at once, although standard input is still open.
        assert "not delivered" in producing.stderr.readline()
        producing.process.stdin.close()
        told = producing.stderr.read()
        assert "1 of 2 records were not delivered" in told
        assert f"no broker answered at {broker.bootstrap_servers}" in told
        assert producing.process.wait() == 1


def test_ctrl_c_delivers_what_was_read(cli: Cli, one: str) -> None:
    with cli.start("produce", one, "--property", "linger.ms=100", stdin=subprocess.PIPE) as running:
        assert running.process.stdin is not None
        with cli.start("consume", one, "--from-beginning") as consuming:
            running.process.stdin.write("a\n")
            running.process.stdin.flush()
            assert consuming.stdout.readline() == "a\n"
        assert running.interrupt() == 130
        assert running.stderr.read() == ""
