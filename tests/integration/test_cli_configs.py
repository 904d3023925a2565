"""`headwater configs` against a running broker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cli_command import Cli

if TYPE_CHECKING:
    from tests.broker_process import BrokerProcess


@pytest.fixture
def cli(broker: BrokerProcess) -> Cli:
    return Cli(broker.bootstrap_servers)


def test_only_what_somebody_set_is_shown_unless_all_is_asked_for(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic, "--config", "retention.ms=60000")
    shown = cli.ok("configs", "describe", "--topic", topic).splitlines()
    assert shown[0].split("\t") == ["SETTING", "VALUE", "SOURCE", "READ-ONLY"]
    assert "retention.ms\t60000\tDYNAMIC_TOPIC_CONFIG\tno" in shown
    assert not any(line.startswith("segment.bytes\t") for line in shown)

    everything = cli.ok("configs", "describe", "--topic", topic, "--all").splitlines()
    assert "segment.bytes\t1073741824\tdefault\tno\t" in everything
    assert "min.insync.replicas\t1\tdefault\tno\tno effect here" in everything
    assert len(everything) > 20


def test_add_delete_append_and_subtract(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic)
    alter = ("configs", "alter", "--topic", topic)
    cli.ok(*alter, "--add", "retention.ms=1000", "--append", "cleanup.policy=compact")
    settings = cli.json("configs", "describe", "--topic", topic)
    assert settings["retention.ms"]["value"] == "1000"
    assert settings["cleanup.policy"]["value"] == "delete,compact"
    cli.ok(*alter, "--delete", "retention.ms", "--subtract", "cleanup.policy=delete")
    settings = cli.json("configs", "describe", "--topic", topic)
    assert "retention.ms" not in settings
    assert settings["cleanup.policy"]["value"] == "compact"
    assert settings["cleanup.policy"]["synonyms"][0]["source"] == "DYNAMIC_TOPIC_CONFIG"


def test_a_wrong_change_changes_nothing(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic)
    wrong = cli(
        *("configs", "alter", "--topic", topic, "--add", "retention.ms=1"),
        *("--add", "segment.bytes=many"),
    )
    assert wrong.code == 1
    assert "segment.bytes" in wrong.err
    assert "retention.ms" not in cli.json("configs", "describe", "--topic", topic)


def test_a_dry_run_changes_nothing(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic)
    cli.ok("configs", "alter", "--topic", topic, "--add", "retention.ms=1", "--dry-run")
    assert "retention.ms" not in cli.json("configs", "describe", "--topic", topic)


def test_a_similar_name_is_suggested(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic)
    wrong = cli("configs", "alter", "--topic", topic, "--add", "retension.ms=1")
    assert wrong.code == 1
    assert "did you mean retention.ms" in wrong.err


def test_one_setting_by_name(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic)
    shown = cli.json("configs", "describe", "--topic", topic, "max.message.bytes")
    assert list(shown) == ["max.message.bytes"]
    assert shown["max.message.bytes"]["default"] is True
    assert cli("configs", "describe", "--topic", topic, "no.such.setting").code == 1


def test_broker_settings(cli: Cli) -> None:
    everything = cli.json("configs", "describe", "--broker", 1, "--all")
    assert everything["node.id"]["value"] == "1"
    assert everything["node.id"]["read_only"] is True
    assert everything["node.id"]["has_effect"] is True
    assert everything["num.network.threads"]["has_effect"] is False
    cli.ok("configs", "alter", "--broker", 1, "--add", "log.retention.ms=86400000")
    assert cli.json("configs", "describe", "--broker", 1)["log.retention.ms"]["value"] == "86400000"
    cli.ok("configs", "alter", "--broker", 1, "--delete", "log.retention.ms")
    assert "log.retention.ms" not in cli.json("configs", "describe", "--broker", 1)


def test_a_broker_that_is_not_there_is_no_long_wait(cli: Cli) -> None:
    missing = cli("configs", "describe", "--broker", 7)
    assert missing.code == 1
    assert "there is no broker 7; the brokers are: 1" in missing.err


def test_who_sets_what_has_no_effect_is_told(cli: Cli, topic: str) -> None:
    told = "is kept and has no effect here"
    created = cli("topics", "create", topic, "--config", "min.insync.replicas=2")
    altered = cli("topics", "alter", topic, "--config", "min.insync.replicas=1")
    for done in (created, altered):
        assert done.code == 0
        assert f"min.insync.replicas {told}" in done.err
    alter = ("configs", "alter", "--broker", 1)
    both = cli(*alter, "--add", "num.io.threads=9", "--add", "log.retention.ms=60000")
    assert f"num.io.threads {told}" in both.err
    assert f"log.retention.ms {told}" not in both.err
    gone = cli(*alter, "--delete", "num.io.threads", "--delete", "log.retention.ms")
    assert gone.code == 0
    assert told not in gone.err
