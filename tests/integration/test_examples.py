"""The examples' programs, on a real broker and real Spark."""

from __future__ import annotations

import json
import os
import random
import runpy
import subprocess
import sys
import threading
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from examples.bank.account import Event, RefusedError
from examples.bank.program import EVENTS, SNAPSHOTS, bank
from examples.bank.statements import Statements
from examples.bank.teller import Teller
from examples.calculator.__main__ import answer
from examples.calculator.calculator import TOPIC, Calculator
from examples.kappa.lambda_version.batch import run_batch
from examples.kappa.lambda_version.serving import served
from examples.kappa.lambda_version.speed import speed_layer
from examples.kappa.program import REVENUE, monthly_revenue
from examples.kappa.table import read_table
from examples.sales import history
from examples.sales.forecast import FORECASTS, publish
from examples.sales.program import MONTHS, PRODUCTS, SALES, SALESMEN
from examples.sales.report import Report
from examples.serving import ask
from examples.stage import Stage
from tests.docs_page import ROOT, commands
from tests.integration.streams_topics import Topics, run_once, topics
from tests.spark_session import spark
from tests.waiting import wait_for

from headwater.processes.guard import Guard
from headwater.processes.ports import FreePorts
from headwater.spark.jobs.job import Job
from headwater.streams import App

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import StartBroker

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


def test_word_count(
    spark: SparkSession, topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics.create("text-lines")
    topics.write("text-lines", b"Kafka, kafka STREAMS", b"  ", b"streams!", key="ignored")
    run_once(program("words", topics, tmp_path, monkeypatch), spark)
    assert {each.key(): each.value() for each in topics.read("word-counts", 2)} == {
        b"kafka": b'{"count":2}',
        b"streams": b'{"count":2}',
    }


def test_sales(
    spark: SparkSession, topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics.create(SALES, FORECASTS)
    # A year in which each month sold 100 more than the one before, but for July, and a month that
    # is not over yet.
    for month in range(1, 13):
        sold = month if month != 7 else 14
        booked = {"product": "tent", "salesman": "ann", "quantity": sold, "price": 100_00}
        topics.write(SALES, booked | {"at": f"2025-{month:02}-15T12:00:00Z"})
    lamp = {"product": "lamp", "salesman": "bob", "quantity": 2, "price": 500_00}
    topics.write(SALES, lamp | {"at": "2026-01-02T12:00:00+01:00"})
    event = publish(spark, topics.servers, datetime(2026, 1, 31, tzinfo=UTC))
    assert values(topics, FORECASTS, 1) == [event]
    assert [each["month"] for each in event["months"]] == [f"2026-{m:02}" for m in range(1, 13)]
    assert event["from_months"] == 12
    revenues = {each["month"]: each["revenue"] for each in event["months"]}
    assert event["revenue"] == sum(revenues.values())
    # The line goes on upwards, and July is twice what its neighbours are.
    assert 1_300_00 < revenues["2026-12"] < 3_000_00
    assert 1.8 < revenues["2026-07"] / ((revenues["2026-06"] + revenues["2026-08"]) / 2) < 2.2

    run_once(program("sales", topics, tmp_path, monkeypatch), spark)
    report = Report(topics.servers)
    assert report.top(PRODUCTS, 1) == [{"name": "tent", "sales": 12, "revenue": 8_500_00}]
    assert report.top(SALESMEN, 9) == [
        {"name": "ann", "sales": 12, "revenue": 8_500_00},
        {"name": "bob", "sales": 1, "revenue": 1_000_00},
    ]
    assert report.table(MONTHS)["2025-07"] == {"sales": 1, "revenue": 1_400_00}
    assert len(report.table(MONTHS)) == 13
    report.close()


def test_the_till_and_the_report_over_http(start_broker: StartBroker, tmp_path: Path) -> None:
    topics = Topics(start_broker().bootstrap_servers)
    topics.create(SALES, PRODUCTS, SALESMEN, MONTHS)
    for name, revenue in (("lamp", 100), ("tent", 300), ("lamp", 200)):
        topics.write(PRODUCTS, {"sales": 1, "revenue": revenue}, key=name)
    sold = {"product": "tent", "salesman": "ann", "quantity": 1, "price": 100}
    with closing(FreePorts("127.0.0.1")) as ports, Guard(kills_after_s=10) as guard:
        platform = Stage(topics.servers, "", tmp_path, threading.Event(), guard)
        till, report = ports.pick(), ports.pick()
        with (
            platform.start("examples.sales.till", "--port", str(till)),
            platform.start("examples.sales.report", "--port", str(report)),
        ):
            booked = wait_for(lambda: ask(f"http://127.0.0.1:{till}/sales", sold))
            for wrong in (
                {"quantity": 0},
                {"price": "dear"},
                {"at": "2026-01-01T00:00:00"},
                {"tax": 1},
            ):
                assert ask(f"http://127.0.0.1:{till}/sales", sold | wrong) is None, wrong
            best = wait_for(lambda: ask(f"http://127.0.0.1:{report}/report?top=1"))
    assert topics.end(SALES) == 1
    assert values(topics, SALES, 1) == [booked]
    assert best == {
        "products": [{"name": "tent", "sales": 1, "revenue": 300}],
        "salesmen": [],
        "months": {},
    }


def test_kappa_and_lambda(spark: SparkSession, start_broker: StartBroker, tmp_path: Path) -> None:
    topics = Topics(start_broker().bootstrap_servers)
    view = tmp_path / "view.json"
    topics.create(SALES)
    first, last = datetime(2025, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    sold = list(history.sales(random.Random(7), first, last, a_day=1))
    ended = next(number for number, sale in enumerate(sold) if sale["at"] > "2025-12-20")
    expected: dict[str, dict[str, int]] = {}
    for sale in sold:
        month = expected.setdefault(sale["at"][:7], {"sales": 0, "revenue": 0})
        month["sales"] += 1
        month["revenue"] += sale["quantity"] * sale["price"]

    def settings(name: str) -> dict[str, Any]:
        return {"bootstrap_servers": topics.servers, "checkpoint_dir": tmp_path / name}

    live = monthly_revenue("live", "live-revenue", **settings("live"))
    kappa = monthly_revenue(**settings("kappa"))
    all_live = Job(live.plan())
    all_live.start(spark)  # before anything was sold
    try:
        history.write(topics.servers, sold[:ended])
        run_once(kappa, spark)
        assert read_table(topics.servers, REVENUE).keys() == {*expected} - {"2026-01"}
        until = run_batch(spark, topics.servers, view)
        assert until == ended
        history.write(topics.servers, sold[ended:])
        run_once(kappa, spark)
        assert read_table(topics.servers, REVENUE) == expected
        run_once(speed_layer(until, **settings("speed")), spark)
        assert served(topics.servers, view) == expected
        wait_for(
            lambda: read_table(topics.servers, "live-revenue"),
            until=lambda table: table == expected,
        )
    finally:
        all_live.stop()


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


@pytest.mark.parametrize("name", ["bank", "clicks", "orders", "sales", "words"])
def test_the_command_ends_by_itself(name: str, tmp_path: Path) -> None:
    run_example(name, tmp_path, "--seconds", "1")


def test_kappa_by_its_command(tmp_path: Path) -> None:
    (command,) = commands(ROOT / "docs/example-kappa.md")
    assert command.line == "python -m examples.kappa --sales 1"
    done = run_example("kappa", tmp_path, "--sales", "1")
    assert done.stdout.endswith("Both say the same.\n"), done.stdout


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
