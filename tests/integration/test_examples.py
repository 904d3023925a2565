"""The examples' programs, on a real broker and real Spark."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from examples.bank.account import Event, RefusedError
from examples.bank.program import EVENTS, SNAPSHOTS, bank
from examples.bank.statements import Statements
from examples.bank.teller import Teller
from examples.calculator.__main__ import answer
from examples.calculator.calculator import TOPIC, Calculator
from tests.docs_page import ROOT, commands
from tests.integration.streams_topics import Topics, run_once, topics
from tests.spark_session import spark

from headwater.streams import App

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

__all__ = ["spark", "topics"]

EXAMPLES = ROOT / "examples"
MINUTE_MS = 60_000
HUNG_AFTER_S = 240.0


def program(name: str, topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> App:
    """The app of an example, as `headwater run` builds it."""
    monkeypatch.setenv("HEADWATER_BOOTSTRAP_SERVER", topics.servers)
    monkeypatch.setenv("HOME", str(tmp_path))  # where checkpoints are
    app = runpy.run_path(str(EXAMPLES / name / "program.py"))["app"]
    assert isinstance(app, App)
    return app


def values(topics: Topics, topic: str, count: int) -> list[Any]:
    return [json.loads(each.value()) for each in topics.read(topic, count)]


def test_clicks(
    spark: SparkSession, topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics.create("authorization_attempts", "monitoring_stream", "clickstream", "users")
    for number in range(10):
        card = {"card_number": "stolen" if number < 5 else f"card-{number}", "amount": 9.5}
        topics.produce("authorization_attempts", "k", card, timestamp_ms=MINUTE_MS + number)
        log = {"type": "ERROR" if number % 2 else "INFO", "error_code": "E1"}
        topics.produce("monitoring_stream", "k", log, timestamp_ms=MINUTE_MS + number)
    topics.produce("users", "ann", {"user_id": "ann", "level": "Platinum"}, timestamp_ms=1)
    topics.produce("users", "bob", {"user_id": "bob", "level": "Gold"}, timestamp_ms=1)
    for user in ("ann", "bob", "eve"):
        click = {"userid": user, "page": "/", "action": "view"}
        topics.produce("clickstream", user, click, timestamp_ms=MINUTE_MS)
    topics.flush()
    run_once(program("clicks", topics, tmp_path, monkeypatch), spark)
    (fraud,) = values(topics, "possible_fraud", 1)
    assert fraud["count"] == 5
    (errors,) = values(topics, "error_counts", 1)
    assert errors["count"] == 5
    assert values(topics, "vip_users", 1) == [{"userid": "ann", "page": "/", "action": "view"}]


def test_orders(
    spark: SparkSession, topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics.create("orders", "warehouse-deliveries", "order-validations", "order-outcomes")
    delivered = {"product": "tent", "quantity": 3}
    topics.produce("warehouse-deliveries", "tent", delivered, timestamp_ms=MINUTE_MS)
    wanted = {
        "fits": ("ann", "tent", 2, 100),
        "too-many": ("ann", "tent", 2, 100),
        "too-dear": ("bob", "tent", 1, 2_000_01),
        "nothing": ("eve", "tent", 0, 100),
        "gave-back": ("eve", "tent", 1, 100),
        "unknown": ("eve", "sock", 1, 100),
    }
    for number, (name, (customer, product, quantity, price)) in enumerate(wanted.items()):
        at = 2 * MINUTE_MS + number
        if name == "gave-back":  # what had failed, and held the last tent
            gone = {"state": "FAILED", "product": "tent", "quantity": 1, "failed": ["FRAUD_CHECK"]}
            topics.produce("orders", "too-dear", gone, timestamp_ms=at)
        new = {"customer": customer, "product": product, "quantity": quantity, "price": price}
        topics.produce("orders", name, {"state": "CREATED", **new}, timestamp_ms=at)
    topics.flush()
    run_once(program("orders", topics, tmp_path, monkeypatch), spark)
    outcomes = topics.read("order-outcomes", len(wanted))
    found = {each.key().decode(): json.loads(each.value()) for each in outcomes}
    assert {name: outcome["state"] for name, outcome in found.items()} == {
        "fits": "VALIDATED",
        "too-many": "FAILED",
        "too-dear": "FAILED",
        "nothing": "FAILED",
        "gave-back": "VALIDATED",
        "unknown": "FAILED",
    }
    assert {name: sorted(outcome["failed"]) for name, outcome in found.items()} == {
        "fits": [],
        "too-many": ["INVENTORY_CHECK"],
        "too-dear": ["FRAUD_CHECK"],
        "nothing": ["INVENTORY_CHECK", "ORDER_DETAILS_CHECK"],
        "gave-back": [],
        "unknown": ["INVENTORY_CHECK"],
    }
    assert len(topics.read("order-validations", 3 * len(wanted))) == 3 * len(wanted)


def test_a_bank(spark: SparkSession, topics: Topics, tmp_path: Path) -> None:
    topics.create(EVENTS)
    statements = Statements(topics.servers, tmp_path / "statements.db")
    teller = Teller(topics.servers)
    for name in ("ann", "bob"):
        teller.tell(name, Event("opened"))
    assert teller.tell("ann", Event("deposited", 100)).balance == 100
    assert teller.tell("ann", Event("withdrawn", 30)).balance == 70
    assert statements.catch_up() == 4
    statements.close()
    for event in (Event("withdrawn", 71), Event("opened"), Event("deposited", 0)):
        with pytest.raises(RefusedError):
            teller.tell("ann", event)
    with pytest.raises(RefusedError, match="open it first"):
        teller.tell("eve", Event("deposited", 1))

    app = bank(
        bootstrap_servers=topics.servers,
        checkpoint_dir=str(tmp_path / "checkpoint"),
        stores_dir=str(tmp_path / "stores"),
    )
    run_once(app, spark)
    snapshots = app.store("balances")
    snapshots.wait_until_ready()
    assert snapshots.get("ann") == {"balance": 70, "events": 3, "version": 6}
    # From a snapshot on, only what came after it is replayed.
    second = Teller(topics.servers, snapshots)
    assert second.tell("ann", Event("deposited", 5)).balance == 75
    assert second.log.replayed < teller.log.replayed
    with pytest.raises(Exception, match=r"(?i)fenced|invalid"):
        teller.tell("ann", Event("deposited", 1))
    # What was down meanwhile takes what it missed, and nothing twice.
    again = Statements(topics.servers, tmp_path / "statements.db")
    assert again.catch_up() == 1
    assert again.catch_up() == 0
    assert again.of("ann") == [
        ("opened", 0),
        ("deposited", 100),
        ("withdrawn", 30),
        ("deposited", 5),
    ]
    for each in (teller, second, again):
        each.close()
    app.stores.close()
    assert len(topics.read(SNAPSHOTS, 1)) >= 1


def test_a_calculator(
    spark: SparkSession, topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics.create(TOPIC)
    mine, other = Calculator(topics.servers, "mine"), Calculator(topics.servers, "other")
    for line in ("+ 7", "* 6", "/ 0", "- 0.1"):
        answer(mine, line.split())
    other.do("+", Decimal(1))
    assert answer(mine, ["history"]).splitlines() == [
        "+ 7 = 7",
        "* 6 = 42",
        "/ 0 = division by zero",
        "- 0.1 = 41.9",
    ]
    # Replayed to any point, and by whoever comes after it.
    assert [mine.number(after=count) for count in range(5)] == [0, 7, 42, 42, Decimal("41.9")]
    assert mine.number(until_ms=0) == 0
    mine.close()
    again = Calculator(topics.servers, "mine")
    assert again.do("+", Decimal("0.1")).result == 42
    assert answer(again, ["+", "five"]) == "'five' is no number"
    for each in (other, again):
        each.close()
    run_once(program("calculator", topics, tmp_path, monkeypatch), spark)
    found = {each.key().decode(): json.loads(each.value()) for each in topics.read("operations", 4)}
    assert found == {
        "+": {"asked": 3, "failed": 0},
        "*": {"asked": 1, "failed": 0},
        "/": {"asked": 1, "failed": 1},
        "-": {"asked": 1, "failed": 0},
    }


def test_a_calculator_at_the_terminal(tmp_path: Path) -> None:
    (command,) = commands(ROOT / "docs/example-calculator.md")
    assert command.line == r"printf '+ 5\n/ 0\n* 3\nat 1\n' | python -m examples.calculator"
    done = run_example("calculator", tmp_path, stdin="+ 5\n/ 0\n* 3\nat 1\n")
    assert done.stdout == command.expected


@pytest.mark.parametrize("name", ["bank", "clicks", "orders"])
def test_the_command_ends_by_itself(name: str, tmp_path: Path) -> None:
    run_example(name, tmp_path, "--seconds", "1")


def run_example(
    name: str, folder: Path, *options: str, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run an example as its page says, and see that nothing of it stays."""
    done = subprocess.run(
        [sys.executable, "-m", f"examples.{name}", *options],
        cwd=EXAMPLES.parent,
        env={**os.environ, "TMPDIR": str(folder)},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=HUNG_AFTER_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert [*folder.iterdir()] == [], "left in the temporary directory"
    return done
