"""`headwater groups` against a running broker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import confluent_kafka
import pytest
from tests.cli_command import Cli
from tests.integration.group_workers import Worker
from tests.integration.raw_groups import commit, committed, fresh_group, quick_broker, stable_member
from tests.integration.raw_requests import Topic, create_topic
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.broker_process import BrokerProcess
    from tests.integration.raw_client import RawClient

BASE = 1_700_000_000_000
RECORDS = 20


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    yield from quick_broker(tmp_path_factory)


@pytest.fixture
def cli(broker: BrokerProcess) -> Cli:
    return Cli(broker.bootstrap_servers)


@pytest.fixture
def group() -> str:
    return fresh_group()


@pytest.fixture
def filled(client: RawClient, broker: BrokerProcess, topic: str) -> Topic:
    """Two partitions with ten records each, a second apart."""
    created = create_topic(client, topic, partitions=2)
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap_servers})
    for number in range(RECORDS):
        producer.produce(
            topic, str(number), partition=number % 2, timestamp=BASE + 1000 * (number // 2)
        )
    assert producer.flush(60) == 0
    return created


@pytest.fixture
def moved(client: RawClient, group: str, filled: Topic) -> str:
    """A group without members that has come to offset 4 and 6."""
    commit(client, group, {(filled.name, 0): 4, (filled.name, 1): 6})
    return group


def offsets(cli: Cli, group: str) -> dict[int, int]:
    (described,) = cli.json("groups", "describe", group)
    return {one["partition"]: one["current_offset"] for one in described["partitions"]}


def reset(cli: Cli, group: str, *how: object) -> dict[int, int]:
    plan = cli.json("groups", "reset-offsets", group, *how)
    return {one["partition"]: one["new_offset"] for one in plan}


def test_list_shows_those_that_fit(cli: Cli, client: RawClient, moved: str) -> None:
    busy = f"{moved}-busy"
    stable_member(client, busy)
    assert cli.ok("groups", "list", f"{moved}*").splitlines() == [moved, busy]
    assert cli.ok("groups", "list", f"{moved}*", "--state", "empty").splitlines() == [moved]
    assert cli.ok("groups", "list", f"{moved}*", "--type", "consumer") == ""
    columns, *rows = cli.ok("groups", "list", f"{moved}*", "--long").splitlines()
    assert columns.split("\t") == ["GROUP", "TYPE", "STATE"]
    assert [row.split("\t") for row in rows] == [
        [moved, "Classic", "Empty"],
        [busy, "Classic", "Stable"],
    ]


def test_describe_shows_how_far_a_group_has_come(cli: Cli, moved: str, filled: Topic) -> None:
    done = cli("groups", "describe", moved)
    assert done.code == 0
    assert f"The group '{moved}' has no active members." in done.err
    columns, *rows = done.out.splitlines()
    assert columns.split("\t") == [
        *("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG"),
        *("CONSUMER-ID", "HOST", "CLIENT-ID"),
    ]
    assert [row.split("\t") for row in rows] == [
        [moved, filled.name, "0", "4", "10", "6", "-", "-", "-"],
        [moved, filled.name, "1", "6", "10", "4", "-", "-", "-"],
    ]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_describe_shows_the_members(
    cli: Cli, broker: BrokerProcess, group: str, filled: Topic, protocol: str
) -> None:
    servers = broker.bootstrap_servers
    with Worker(f"confluent:{protocol}", servers, group, [filled.name], name="reader") as worker:
        worker.until_read(RECORDS)
        (described,) = cli.json("groups", "describe", group)
        assert (described["state"], described["type"]) == ("Stable", protocol.capitalize())
        assert described["assignor"] == ("range" if protocol == "classic" else "uniform")
        (member,) = described["members"]
        assert (member["client_id"], member["host"]) == ("reader", "/127.0.0.1")
        assert member["assignment"] == {filled.name: [0, 1]}
        assert {one["consumer_id"] for one in described["partitions"]} == {member["consumer_id"]}
        assert {one["lag"] for one in described["partitions"]} == {0}
        _, row = cli.ok("groups", "describe", group, "--members").splitlines()
        assert row.split("\t")[-2:] == ["2", f"{filled.name}(0,1)"]
        _, row = cli.ok("groups", "describe", group, "--state").splitlines()
        assert row.split("\t")[-2:] == ["Stable", "1"]
        busy = cli("groups", "reset-offsets", group, "--all-topics", "--to-earliest", "--execute")
        assert busy.code == 1
        assert f"the group '{group}' is Stable" in busy.err
        refused = cli("groups", "delete", group)
        assert refused.code == 1
        assert "it still has members" in refused.err


def test_describe_names_close_groups(cli: Cli, moved: str) -> None:
    missing = cli("groups", "describe", f"{moved}x")
    assert missing.code == 1
    assert f"there is no group '{moved}x'. Did you mean {moved}" in missing.err


def test_delete(cli: Cli, moved: str) -> None:
    done = cli("groups", "delete", moved, "no-such-group")
    assert done.code == 1
    assert f"Deleted {moved}." in done.err
    assert "there is no group 'no-such-group'" in done.err
    assert cli.json("groups", "list", moved) == []


def test_a_reset_is_only_shown_unless_executed(cli: Cli, moved: str, filled: Topic) -> None:
    done = cli("groups", "reset-offsets", moved, "--topic", filled.name, "--to-earliest")
    assert done.code == 0
    assert "Nothing was changed" in done.err
    columns, *rows = done.out.splitlines()
    assert columns.split("\t") == ["GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "NEW-OFFSET"]
    assert [row.split("\t")[2:] for row in rows] == [["0", "4", "0"], ["1", "6", "0"]]
    assert offsets(cli, moved) == {0: 4, 1: 6}


def test_skipping_a_poisoned_message_is_one_line(cli: Cli, moved: str, filled: Topic) -> None:
    poisoned = f"{filled.name}:1"
    cli.ok("groups", "reset-offsets", moved, "--topic", poisoned, "--shift-by", 1, "--execute")
    assert offsets(cli, moved) == {0: 4, 1: 7}


def test_every_way_to_reset(cli: Cli, client: RawClient, group: str, filled: Topic) -> None:
    ways: list[tuple[list[Any], tuple[int, int]]] = [
        (["--to-earliest"], (0, 0)),
        (["--to-latest"], (10, 10)),
        (["--to-current"], (4, 6)),
        (["--to-offset", 3], (3, 3)),
        (["--to-offset", 99], (10, 10)),
        (["--shift-by", -5], (0, 1)),
        (["--to-datetime", BASE + 2500], (3, 3)),
        (["--to-datetime", "2023-11-14T22:13:22.500Z"], (3, 3)),
        (["--to-datetime", "2040-01-01T00:00:00Z"], (10, 10)),
        (["--by-duration", "36500d"], (0, 0)),
        (["--by-duration", "PT1H30M"], (10, 10)),
    ]
    for how, (zero, one) in ways:
        commit(client, group, {(filled.name, 0): 4, (filled.name, 1): 6})
        assert reset(cli, group, "--all-topics", *how, "--execute") == {0: zero, 1: one}, how
        found = committed(client, group, None)
        places = [found[filled.name, partition].committed_offset for partition in (0, 1)]
        assert places == [zero, one], how


def test_offsets_go_out_to_a_file_and_come_back(
    cli: Cli, moved: str, filled: Topic, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.csv"
    plan.write_text(
        cli.ok("groups", "reset-offsets", moved, "--all-topics", "--to-current", "--export")
    )
    assert plan.read_text().splitlines() == [
        f"{moved},{filled.name},0,4",
        f"{moved},{filled.name},1,6",
    ]
    cli.ok("groups", "reset-offsets", moved, "--all-topics", "--to-latest", "--execute")
    assert reset(cli, moved, "--from-file", plan, "--execute") == {0: 4, 1: 6}
    plan.write_text(f"{filled.name},0,2\n")
    assert reset(cli, moved, "--from-file", plan, "--execute") == {0: 2}
    assert offsets(cli, moved) == {0: 2, 1: 6}


def test_a_new_group_can_be_given_offsets(cli: Cli, group: str, filled: Topic) -> None:
    assert reset(cli, group, "--topic", filled.name, "--to-latest", "--execute") == {0: 10, 1: 10}
    assert offsets(cli, group) == {0: 10, 1: 10}


def test_what_makes_no_sense_is_refused(cli: Cli, moved: str) -> None:
    for arguments, message in [
        (["--all-topics"], "Say where to"),
        (["--all-topics", "--to-earliest", "--to-latest"], "exclude each other"),
        (["--to-earliest"], "--topic"),
        (["--topic", "t", "--all-topics", "--to-earliest"], "--topic"),
        (["--topic", "t:x", "--to-earliest"], "TOPIC:0,1,2"),
        (["--all-topics", "--by-duration", "soon"], "no duration"),
        (["--all-topics", "--to-datetime", "yesterday"], "no time"),
    ]:
        done = cli("groups", "reset-offsets", moved, *arguments)
        assert (done.code, message in done.err) == (2, True), (arguments, done)


def test_what_is_not_there_cannot_be_reset(
    cli: Cli, group: str, filled: Topic, tmp_path: Path
) -> None:
    where = ["--to-earliest"]
    missing = cli("groups", "reset-offsets", group, "--topic", f"{filled.name}:7", *where)
    assert (missing.code, f"there is no partition {filled.name}-7" in missing.err) == (1, True)
    no_group = cli("groups", "reset-offsets", group, "--all-topics", *where)
    assert (no_group.code, f"there is no group '{group}'" in no_group.err) == (1, True)
    nothing = cli("groups", "reset-offsets", group, "--topic", filled.name, "--shift-by", 1)
    assert (nothing.code, "nothing to shift" in nothing.err) == (1, True)
    malformed = tmp_path / "malformed.csv"
    malformed.write_text("what,is\n")
    bad_file = cli("groups", "reset-offsets", group, "--from-file", malformed)
    assert (bad_file.code, "line 1" in bad_file.err) == (1, True)


def test_consume_in_a_group_goes_on_where_it_was(cli: Cli, group: str, filled: Topic) -> None:
    read = ("consume", filled.name, "--group", group, "--format", "%p/%o\\n")
    first = cli.ok(*read, "--from-beginning", "--max-messages", 5).splitlines()
    assert len(first) == 5
    rest = cli.ok(*read, "--from-beginning", "--until-end").splitlines()
    assert sorted(first + rest) == sorted(f"{p}/{o}" for p in range(2) for o in range(10))
    assert cli.ok(*read, "--until-end") == ""
    assert offsets(cli, group) == {0: 10, 1: 10}


def test_a_malformed_record_is_next_once_those_before_it_were_printed(
    cli: Cli, group: str, topic: str
) -> None:
    cli.ok("topics", "create", topic)
    cli.ok("produce", topic, stdin="1\n2\nno JSON\n3\n")
    read = ("consume", topic, "--group", group, "--value-format", "json", "--from-beginning")
    for printed in ("1\n2\n", ""):
        done = cli(*read)
        assert (done.code, done.out) == (1, printed)
        assert "offset 2" in done.err
        assert offsets(cli, group) == {0: 2}


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_two_who_consume_share_the_partitions(
    cli: Cli, group: str, filled: Topic, protocol: str
) -> None:
    read = ("consume", filled.name, "--group", group, "--property", f"group.protocol={protocol}")

    def shares() -> list[list[int]]:
        listed = cli.json("groups", "list", group)
        members = cli.json("groups", "describe", group)[0]["members"] if listed else []
        return sorted(one["assignment"].get(filled.name, []) for one in members)

    with cli.start(*read) as one, cli.start(*read) as two:
        wait_for(shares, until=lambda found: found == [[0], [1]])
        assert one.interrupt() == two.interrupt() == 130


def test_consume_in_a_group_refuses_what_the_group_decides(
    cli: Cli, group: str, filled: Topic
) -> None:
    read = ("consume", filled.name, "--group", group)
    assert "the group decides" in cli(*read, "--partition", 0).err
    refused = cli(*read, "--offset", 3)
    assert (refused.code, "reset-offsets" in refused.err) == (2, True)
