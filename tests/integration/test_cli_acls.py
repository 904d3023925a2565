"""`headwater acls` against a running broker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.broker_process import BrokerProcess
from tests.cli_command import Cli
from tests.docs_page import ROOT, commands, run_command

from headwater.broker.config.settings.acls import STANDARD_AUTHORIZER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEAD = "RESOURCE\tNAME\tPATTERN\tPRINCIPAL\tHOST\tOPERATION\tPERMISSION"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    process = BrokerProcess(
        tmp_path_factory.mktemp("acls") / "data",
        {"authorizer.class.name": STANDARD_AUTHORIZER, "allow.everyone.if.no.acl.found": "true"},
    ).start()
    yield process
    process.stop()


@pytest.fixture
def cli(broker: BrokerProcess) -> Cli:
    return Cli(broker.bootstrap_servers)


def lines(printed: str) -> list[str]:
    head, *rows = printed.splitlines()
    assert head == HEAD
    return [" ".join(row.split("\t")) for row in rows]


def test_the_page_does_what_it_says(broker: BrokerProcess, tmp_path: Path) -> None:
    for command in commands(ROOT / "docs/acls.md"):
        run_command(command, broker.bootstrap_servers, tmp_path)
    Cli(broker.bootstrap_servers).ok("acls", "remove", "--topic", "*", "--yes")


def test_a_producers_and_a_consumers_rights(cli: Cli) -> None:
    producer = ("--allow-principal", "User:p", "--producer", "--topic", "a", "--topic", "b",
                "--transactional-id", "x")  # fmt: skip
    added = lines(cli.ok("acls", "add", *producer))
    assert added == [
        *(f"TOPIC {n} LITERAL User:p * {o} Allow" for n in "ab" for o in _WRITING),
        "TRANSACTIONAL_ID x LITERAL User:p * Describe Allow",
        "TRANSACTIONAL_ID x LITERAL User:p * Write Allow",
    ]
    consumer = ("--allow-principal", "User:c", "--consumer", "--topic", "a", "--group", "g",
                "--allow-host", "10.0.0.1", "--allow-host", "10.0.0.2")  # fmt: skip
    cli.ok("acls", "add", *consumer)
    assert lines(cli.ok("acls", "list", "--principal", "User:c")) == [
        "GROUP g LITERAL User:c 10.0.0.1 Read Allow",
        "GROUP g LITERAL User:c 10.0.0.2 Read Allow",
        "TOPIC a LITERAL User:c 10.0.0.1 Describe Allow",
        "TOPIC a LITERAL User:c 10.0.0.1 Read Allow",
        "TOPIC a LITERAL User:c 10.0.0.2 Describe Allow",
        "TOPIC a LITERAL User:c 10.0.0.2 Read Allow",
    ]
    assert lines(cli.ok("acls", "remove", *producer)) == added
    assert lines(cli.ok("acls", "list", "--principal", "User:p")) == []
    cli.ok("acls", "remove", "--topic", "a", "--group", "g", "--yes")
    assert cli.json("acls", "list", "--topic", "a") == []


def test_prefixes_denials_and_all_that_is_about_a_name(cli: Cli) -> None:
    prefixed = ("--topic", "ord", "--resource-pattern-type", "prefixed")
    cli.ok(
        "acls", "add", "--allow-principal", "User:a", "--operation", "describe_configs", *prefixed
    )
    cli.ok(
        "acls", "add", "--deny-principal", "User:b", "--deny-host", "10.0.0.1", "--topic", "orders"
    )
    cli.ok("acls", "add", "--allow-principal", "User:*", "--operation", "Read", "--topic", "*")
    match = ("--topic", "orders", "--resource-pattern-type", "match")
    assert lines(cli.ok("acls", "list", *match)) == [
        "TOPIC * LITERAL User:* * Read Allow",
        "TOPIC ord PREFIXED User:a * DescribeConfigs Allow",
        "TOPIC orders LITERAL User:b 10.0.0.1 All Deny",
    ]
    (only,) = cli.json("acls", "list", *prefixed)
    assert only == {
        "resource": "TOPIC",
        "name": "ord",
        "pattern": "PREFIXED",
        "principal": "User:a",
        "host": "*",
        "operation": "DescribeConfigs",
        "permission": "Allow",
    }
    assert len(lines(cli.ok("acls", "remove", *match))) == 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("add", "--topic", "t"), "Say who"),
        (("add", "--allow-principal", "User:a"), "Say on what"),
        (("add", "--allow-principal", "ann", "--topic", "t"), "User:ann"),
        (("add", "--allow-principal", "User:a", "--producer"), "need --topic"),
        (("add", "--allow-principal", "User:a", "--consumer", "--topic", "t"), "needs --group"),
        (("add", "--allow-host", "1.2.3.4", "--topic", "t"), "--allow-principal"),
        (("add", "--allow-principal", "User:a", "--idempotent", "--topic", "t"), "--producer"),
        (
            ("add", "--allow-principal", "User:a", "--operation", "Read", "--cluster"),
            "no 'Read' on a cluster",
        ),
        (
            (
                "add",
                "--allow-principal",
                "User:a",
                "--producer",
                "--topic",
                "t",
                "--operation",
                "All",
            ),
            "no --operation",
        ),
        (("remove",), "Say on what"),
    ],
)
def test_what_makes_no_sense_is_refused(cli: Cli, arguments: tuple[str, ...], says: str) -> None:
    finished = cli("acls", *arguments)
    assert finished.code == 2
    assert says in finished.err


def test_without_an_authorizer_it_says_what_to_set(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    plain = BrokerProcess(tmp_path_factory.mktemp("plain") / "data").start()
    try:
        finished = Cli(plain.bootstrap_servers)("acls", "list")
        assert finished.code == 1
        assert "authorizer.class.name" in finished.err
    finally:
        plain.stop()


_WRITING = ("Create", "Describe", "Write")


def test_a_topic_is_made_by_who_may_not_look_at_the_broker_s_settings(cli: Cli) -> None:
    everything = ("--cluster", "--allow-principal", "User:ANONYMOUS", "--operation", "All")
    no_look = ("--cluster", "--deny-principal", "User:ANONYMOUS", "--operation", "DescribeConfigs")
    cli.ok("acls", "add", *everything)
    cli.ok("acls", "add", *no_look)
    done = cli("topics", "create", "two-replicas", "--config", "min.insync.replicas=2")
    cli.ok("acls", "remove", "--cluster", "--yes")
    assert done.code == 0, done
    assert done.err == "Created two-replicas.\n"
