"""The orders example: its services by themselves, and all of them killed under load."""

from __future__ import annotations

import json
import threading
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest
from confluent_kafka import KafkaException
from examples.event_log import EventLog
from examples.orders.__main__ import deliver
from examples.orders.book import ConflictError, OrderBook
from examples.orders.company import Company
from examples.orders.emails import EMAILS, write_emails
from examples.orders.order import Order
from examples.orders.program import HOURLY_LIMIT, ORDERS, OUTCOMES, VALIDATIONS
from examples.orders.search_index import SearchIndex
from examples.serving import ask
from examples.stage import Stage
from tests.integration.streams_topics import Topics
from tests.waiting import wait_for

from headwater.processes.guard import Guard

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from examples.event_log import Recorded
    from tests.conftest import StartBroker

DELIVERED = {"tent": 30, "lamp": 1000}
HOUR_MS = 3_600_000
AT_ONCE = 12


@pytest.fixture
def topics(start_broker: StartBroker) -> Topics:
    """Those of a broker of the test's own: a company's topics have fixed names."""
    return Topics(start_broker().bootstrap_servers)


def order(name: str, **different: Any) -> Order:
    wanted = {"customer": "ann", "product": "tent", "quantity": 1, "price": 100}
    return Order.of({"id": name, **wanted, **different})


def records(topics: Topics, topic: str) -> list[Recorded]:
    log = EventLog(topics.servers, topic, "test")
    found = list(log.replay())
    log.close()
    return found


def test_an_order_ends_once(topics: Topics, tmp_path: Path) -> None:
    topics.create(ORDERS, OUTCOMES, EMAILS)
    book = OrderBook(topics.servers)
    for name in ("one", "two"):
        assert book.place(order(name)) == order(name)
    assert book.place(order("one")) == order("one"), "placed again, it is the same"
    with pytest.raises(ConflictError, match="'one' already, for something else"):
        book.place(order("one", quantity=2))
    passed = {"state": "VALIDATED", "failed": []}
    refused = {"state": "FAILED", "failed": ["FRAUD_CHECK"]}
    topics.write(OUTCOMES, passed, refused, key="one")
    topics.write(OUTCOMES, passed, key="nobody's")
    take(book.settle(), 1)
    # Whoever comes next knows what happened, and ends the one before it.
    second = OrderBook(topics.servers)
    with pytest.raises(KafkaException, match=r"(?i)fenced|invalid"):
        book.place(order("three"))
    assert second.orders == {"one": order("one", state="VALIDATED"), "two": order("two")}
    topics.write(OUTCOMES, refused, key="two")
    take(second.settle(), 1)
    written = [(each.key, each.event["state"]) for each in records(topics, ORDERS)]
    assert written == [
        ("one", "CREATED"),
        ("two", "CREATED"),
        ("one", "VALIDATED"),
        ("two", "FAILED"),
    ]

    # Mails and the search go on from where they were.
    index = SearchIndex(tmp_path / "orders.db")
    take(index.follow(topics.servers), 4)
    take(write_emails(topics.servers), 2)
    second.place(order("three"))
    topics.write(OUTCOMES, passed, key="three")
    take(second.settle(), 1)
    take(index.follow(topics.servers), 2)
    take(write_emails(topics.servers), 1)
    assert index.size() == 3
    assert [found["id"] for found in index.find(["ten", "fraud_check"], 10)] == ["two"]
    assert index.find(["CREATED"], 10) == []
    assert index.find(['"', "*", "NEAR("], 10) == []
    assert [(each.key, each.event["text"]) for each in records(topics, EMAILS)] == [
        ("one", "Your order of 1 tent is on its way."),
        ("two", "Your order of 1 tent was refused: FRAUD_CHECK."),
        ("three", "Your order of 1 tent is on its way."),
    ]


def take(rounds: Generator[int], count: int) -> None:
    """Let something follow a topic until it has taken so many, and no more."""
    taken = 0
    while taken < count:
        taken += next(rounds)
    rounds.close()
    assert taken == count


def test_every_order_ends_once_whatever_is_killed(topics: Topics, tmp_path: Path) -> None:
    with Guard(kills_after_s=10) as guard:
        platform = Stage(topics.servers, "", tmp_path, threading.Event(), guard)
        company = Company(platform)
        customer = Customer(company)
        try:
            deliver(topics.servers, DELIVERED)
            refuses_what_is_no_order(company)
            for name in ("orders", "emails", "search"):
                customer.order_while_killing(name)
            wait_for(lambda: topics.end(VALIDATIONS) > 0, what=lambda: says(company))
            customer.order_while_killing("checks")
            checked = topics.end(OUTCOMES)
            for name in ("emails", "orders"):
                customer.order_while_killing(name)
            wait_for(lambda: topics.end(OUTCOMES) > checked, what=lambda: says(company))
            for name in ("search", "emails", "orders"):
                customer.order_while_killing(name)
            customer.wait_until_all_are_final()
            wait_for(lambda: len(records(topics, EMAILS)) >= len(customer.orders))
            assert_each_ended_once(topics, customer.orders)
            wait_for(
                lambda: found(company, "order-17"),
                until=lambda states: states in (["VALIDATED"], ["FAILED"]),
            )
        finally:
            company.close()


class Customer:
    """Places orders one after the other, again where nobody answers."""

    def __init__(self, company: Company) -> None:
        self._company = company
        self.orders: dict[str, dict[str, Any]] = {}
        self.placed = 0

    def order_while_killing(self, name: str) -> None:
        """Kill a service while orders are placed, and let it be started again."""
        ordering = threading.Thread(target=self._order_some)
        before = self.placed
        ordering.start()
        wait_for(lambda: self.placed >= before + AT_ONCE // 3)
        self._company.running[name].child.kill()
        wait_for(lambda: name in self._company.keep_running())
        wait_for(lambda: not ordering.is_alive(), what=lambda: says(self._company))

    def wait_until_all_are_final(self) -> None:
        for name in self.orders:
            wait_for(
                partial(ask, f"{self._company.orders_url}/{name}?wait_ms=5000"),
                until=lambda known: known is not None and known["state"] != "CREATED",
                what=lambda: says(self._company),
            )

    def _order_some(self) -> None:
        for _ in range(AT_ONCE):
            number = len(self.orders)
            new = {
                "id": f"order-{number}",
                "customer": f"customer-{number % 7}",
                "product": ("tent", "lamp")[number % 2],
                "quantity": number % 5,
                "price": HOURLY_LIMIT // 20,
            }
            self.orders[f"order-{number}"] = new
            wait_for(partial(ask, self._company.orders_url, new))
            self.placed += 1


def assert_each_ended_once(topics: Topics, placed: dict[str, dict[str, Any]]) -> None:
    """Everything that happened is in the topics, and nothing of it twice."""
    written = records(topics, ORDERS)
    created = [each for each in written if each.event["state"] == "CREATED"]
    final = {each.key: each.event for each in written if each.event["state"] != "CREATED"}
    assert [each.key for each in created] == list(placed)
    assert len(written) == 2 * len(placed) == 2 * len(final)
    for topic, times in ((VALIDATIONS, 3), (OUTCOMES, 1), (EMAILS, 1)):
        assert Counter(each.key for each in records(topics, topic)) == dict.fromkeys(placed, times)

    spent: Counter[tuple[str, int]] = Counter()
    taken: Counter[str] = Counter()
    for each in created:
        wanted, became = each.event, final[each.key]
        hour = (wanted["customer"], each.time_ms // HOUR_MS)
        spent[hour] += wanted["quantity"] * wanted["price"]
        assert ("FRAUD_CHECK" in became["failed"]) == (spent[hour] > HOURLY_LIMIT), became
        assert ("ORDER_DETAILS_CHECK" in became["failed"]) == (wanted["quantity"] == 0), became
        assert (became["state"] == "FAILED") == bool(became["failed"]), became
        if became["state"] == "VALIDATED":
            taken[wanted["product"]] += wanted["quantity"]
    assert all(taken[product] <= DELIVERED[product] for product in taken), taken
    assert {each["state"] for each in final.values()} == {"VALIDATED", "FAILED"}


def refuses_what_is_no_order(company: Company) -> None:
    wrong = {"customer": "ann", "product": "tent", "quantity": "two", "price": 1}
    told = wait_for(lambda: refusal(company.orders_url, wrong))
    wrong_type = "The request's body is wrong: Expected `int`, got `str` - at `$.quantity`"
    assert told == (422, wrong_type)
    assert refusal(f"{company.orders_url}/none") == (404, "There is no order 'none'")
    told = wait_for(lambda: refusal(company.search_url))
    assert told == (400, "Say what to look for, as /orders?q=tent")


def refusal(url: str, body: object = None) -> tuple[int, str] | None:
    """What a service says against a request; None as long as there is no service."""
    data = None if body is None else json.dumps(body).encode()
    try:
        urlopen(Request(url, data, {"Content-Type": "application/json"}), timeout=60).close()
    except HTTPError as failure:
        return failure.code, json.load(failure)["message"]
    except URLError:
        return None
    raise AssertionError(f"{url} took {body}")


def found(company: Company, words: str) -> list[str]:
    """The states of the orders that the search finds; it may be behind, or still start."""
    try:
        with urlopen(f"{company.search_url}?q={words}", timeout=60) as answered:
            return [each["state"] for each in json.load(answered)]
    except URLError:
        return []


def says(company: Company) -> str:
    """What the services last wrote."""
    return "\n".join(
        f"{name}: {service.child.last_lines}" for name, service in company.running.items()
    )
