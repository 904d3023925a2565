"""`headwater topics` against a running broker."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.cli_command import HUNG_AFTER_S, Cli

if TYPE_CHECKING:
    from tests.broker_process import BrokerProcess


@pytest.fixture
def cli(broker: BrokerProcess) -> Cli:
    return Cli(broker.bootstrap_servers)


def test_create_describe_alter_and_delete(cli: Cli, topic: str) -> None:
    created = cli("topics", "create", topic, "-p", 3, "--config", "retention.ms=60000")
    assert (created.code, created.out) == (0, "")
    assert created.err == f"Created {topic}.\n"

    cli.ok("topics", "alter", topic, "--partitions", 5, "--config", "segment.bytes=2000000")
    (described,) = cli.json("topics", "describe", topic)
    assert described["partition_count"] == 5
    assert described["configs"] == {"retention.ms": "60000", "segment.bytes": "2000000"}
    assert [partition["partition"] for partition in described["partitions"]] == [0, 1, 2, 3, 4]

    cli.ok("topics", "alter", topic, "--delete-config", "retention.ms")
    assert cli.json("topics", "describe", topic)[0]["configs"] == {"segment.bytes": "2000000"}

    cli.ok("topics", "delete", topic)
    assert topic not in cli.ok("topics", "list").splitlines()


def test_describe_shows_what_the_broker_was_given_for_all_topics(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic, "--config", "retention.ms=60000")
    of_broker = ("configs", "alter", "--broker", 1)
    cli.ok(*of_broker, "--add", "min.insync.replicas=2", "--add", "log.segment.bytes=3000000")
    try:
        (described,) = cli.json("topics", "describe", topic)
    finally:
        cli.ok(*of_broker, "--delete", "min.insync.replicas", "--delete", "log.segment.bytes")
    assert described["configs"] == {
        "min.insync.replicas": "2", "retention.ms": "60000", "segment.bytes": "3000000",
    }  # fmt: skip


def test_describe_is_tab_separated_in_a_pipe(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic, "--partitions", 2)
    cli.ok("produce", topic, "--partition", 1, stdin="a\nb\n")
    head, columns, *rows = cli.ok("topics", "describe", topic, "--offsets").splitlines()
    assert head.startswith(f"Topic: {topic}\tTopicId: ")
    assert "\x1b" not in head
    assert columns.split("\t") == [
        *("PARTITION", "LEADER", "REPLICAS", "ISR", "OFFLINE", "START", "END")
    ]
    (_, leader, *_), *_ = [row.split("\t") for row in rows]
    assert [row.split("\t") for row in rows] == [
        ["0", leader, leader, leader, "-", "0", "0"],
        ["1", leader, leader, leader, "-", "0", "2"],
    ]


def test_describe_shows_the_same_topic_id_as_kafka(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic)
    topic_id = cli.json("topics", "describe", topic)[0]["topic_id"]
    assert len(topic_id) == 22
    assert not set(topic_id) & set("+/=")


def test_list_prints_names_only_and_filters_them(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", f"{topic}.a", f"{topic}.b", "--partitions", 2)
    assert cli.ok("topics", "list", f"{topic}.*").splitlines() == [f"{topic}.a", f"{topic}.b"]
    assert cli.ok("topics", "list", f"{topic}.b", "--long").splitlines() == [
        "TOPIC\tPARTITIONS\tREPLICATION\tINTERNAL",
        f"{topic}.b\t2\t1\tno",
    ]
    assert cli.json("topics", "list", f"{topic}.a") == [
        {"name": f"{topic}.a", "partitions": 2, "replication_factor": 1, "internal": False}
    ]


def test_a_topic_that_exists_already(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic)
    again = cli("topics", "create", topic)
    assert again.code == 1
    assert "TOPIC_ALREADY_EXISTS" in again.err
    assert cli("topics", "create", topic, "--if-not-exists").code == 0


def test_one_of_several_fails(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic)
    both = cli("topics", "delete", topic, f"{topic}-never-made")
    assert both.code == 1
    assert f"Deleted {topic}." in both.err
    assert f"there is no topic '{topic}-never-made'" in both.err
    assert cli("topics", "delete", topic, "--if-exists").code == 0


def test_a_close_name_is_suggested(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic)
    missing = cli("topics", "describe", topic[:-1])
    assert missing.code == 1
    assert f"Did you mean {topic}" in missing.err


def test_what_the_broker_refuses_is_said(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic, "--partitions", 3)
    fewer = cli("topics", "alter", topic, "--partitions", 2)
    assert fewer.code == 1
    assert "INVALID_PARTITIONS" in fewer.err
    wrong = cli("topics", "create", f"{topic}2", "--config", "retention.ms=soon")
    assert wrong.code == 1
    assert "retention.ms" in wrong.err
    assert f"{topic}2" not in cli.ok("topics", "list").splitlines()


def test_a_dry_run_creates_nothing(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic, "--dry-run")
    assert topic not in cli.ok("topics", "list").splitlines()


def test_under_replicated_and_unavailable_are_empty_on_a_healthy_cluster(
    cli: Cli, topic: str
) -> None:
    cli.ok("topics", "create", topic)
    assert cli.json("topics", "describe", "--under-replicated", "--unavailable") == []


def test_delete_asks_on_a_terminal(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic)
    printed, code = _on_a_terminal(cli, ["topics", "delete", topic], typed=b"n\n")
    assert f"Delete {topic} with all records?" in printed
    assert code != 0
    assert topic in cli.ok("topics", "list").splitlines()
    _, code = _on_a_terminal(cli, ["topics", "delete", topic], typed=b"y\n")
    assert code == 0
    assert topic not in cli.ok("topics", "list").splitlines()


def test_a_terminal_gets_a_ruled_table(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic)
    printed, code = _on_a_terminal(cli, ["topics", "list", "--long", topic])
    assert code == 0
    assert "PARTITIONS" in printed
    assert "─" in printed
    assert topic in printed


def test_json_is_one_document(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic)
    assert isinstance(json.loads(cli.ok("topics", "describe", "--json")), list)


def _on_a_terminal(cli: Cli, arguments: list[str], typed: bytes = b"") -> tuple[str, int]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        cli.command(*arguments), stdin=theirs, stdout=theirs, stderr=theirs, env=cli.environment
    )
    os.close(theirs)
    os.write(ours, typed)
    printed = b""
    try:
        while chunk := os.read(ours, 65536):
            printed += chunk
    except OSError:  # how Linux reports the end of a terminal
        pass
    os.close(ours)
    return printed.decode(), process.wait(HUNG_AFTER_S)
