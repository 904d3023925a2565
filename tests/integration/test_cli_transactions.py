"""`headwater transactions` against a running broker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kio.schema.errors import ErrorCode
from tests.cli_command import Cli
from tests.integration.raw_transactions import RawProducer
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.broker_process import BrokerProcess
    from tests.integration.raw_client import RawClient
    from tests.integration.raw_requests import Topic


@pytest.fixture
def cli(broker: BrokerProcess) -> Cli:
    return Cli(broker.bootstrap_servers)


@pytest.fixture
def producer(client: RawClient, topic: str, created: Topic) -> RawProducer:
    """A producer with an open transaction."""
    producer = RawProducer(client, topic)
    producer.init()
    assert producer.send(created, b"x").error_code is ErrorCode.none
    return producer


def test_list_shows_those_that_fit(cli: Cli, producer: RawProducer, topic: str) -> None:
    idle = RawProducer(producer.client, f"{topic}-idle")
    idle.init()
    columns, *rows = cli.ok("transactions", "list", f"{topic}*").splitlines()
    assert columns.split("\t") == ["TRANSACTIONAL-ID", "COORDINATOR", "PRODUCER-ID", "STATE"]
    assert [row.split("\t")[::3] for row in rows] == [
        [topic, "Ongoing"],
        [f"{topic}-idle", "Empty"],
    ]
    (found,) = cli.json("transactions", "list", f"{topic}*", "--state", "ongoing")
    assert found["transactional_id"] == topic
    assert found["producer_id"] == producer.producer_id
    listed = cli.json("transactions", "list", "--producer-id", idle.producer_id)
    assert [each["transactional_id"] for each in listed] == [f"{topic}-idle"]
    assert cli.json("transactions", "list", f"{topic}*", "--running-longer-than", "1h") == []


def test_describe_shows_the_partitions(cli: Cli, producer: RawProducer, topic: str) -> None:
    (found,) = cli.json("transactions", "describe", topic)
    assert found["state"] == "Ongoing"
    assert found["partitions"] == [f"{topic}-0"]
    assert found["timeout_ms"] == 60_000
    assert found["running_ms"] >= 0
    assert (found["producer_id"], found["producer_epoch"]) == (producer.producer_id, 0)
    producer.end(committed=True)
    wait_for(
        lambda: cli.json("transactions", "describe", topic)[0]["state"],
        until=lambda state: state == "CompleteCommit",
    )
    columns, row = cli.ok("transactions", "describe", topic).splitlines()
    assert columns.split("\t")[4:9] == [
        "STATE",
        "TIMEOUT-MS",
        "STARTED",
        "RUNNING-MS",
        "PARTITIONS",
    ]
    assert row.split("\t")[4:9] == ["CompleteCommit", "60000", "-", "-", "-"]


def test_describe_of_what_does_not_exist(cli: Cli, producer: RawProducer) -> None:
    finished = cli("transactions", "describe", "nobody's")
    assert finished.code == 1
    assert "there is no transactional id 'nobody's'" in finished.err


def test_abort_fences_the_producer(
    cli: Cli, producer: RawProducer, created: Topic, topic: str
) -> None:
    finished = cli("transactions", "abort", topic)
    assert (finished.code, finished.out) == (0, "")
    assert topic in finished.err
    assert cli.json("transactions", "describe", topic)[0]["state"] in ("Empty", "CompleteAbort")
    answer = producer.send(created, b"late")
    assert answer.error_code is ErrorCode.invalid_producer_epoch
    assert cli("transactions", "abort", "nobody's").code == 1


def test_abort_of_what_hangs_in_a_partition(cli: Cli, producer: RawProducer, topic: str) -> None:
    place = ("--topic", topic, "--partition", 0)
    wrong = cli("transactions", "abort", *place, "--start-offset", 5)
    assert wrong.code == 1
    assert "Open ones begin at: 0" in wrong.err
    cli.ok("transactions", "abort", *place, "--start-offset", 0)
    nothing = cli("transactions", "abort", *place, "--start-offset", 0)
    assert "Open ones begin at: none" in nothing.err


def test_abort_wants_one_thing_or_the_other(cli: Cli) -> None:
    for arguments in ((), ("an-id", "--topic", "t"), ("--topic", "t", "--partition", "0")):
        assert cli("transactions", "abort", *arguments).code == 2
    assert cli("transactions", "list", "--running-longer-than", "soon").code == 2
