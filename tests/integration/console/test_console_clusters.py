"""Several clusters in one console, in a real browser; one of them never answers."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from tests.accessibility import violations
from tests.broker_process import BrokerProcess
from tests.console_process import ConsoleProcess
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.browser import Browser

pytestmark = pytest.mark.needs("chromium", "chromedriver")


@pytest.fixture(scope="module")
def west(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    process = BrokerProcess(tmp_path_factory.mktemp("west")).start()
    admin = AdminClient({"bootstrap.servers": process.bootstrap_servers})
    admin.create_topics([NewTopic("payments", 1)])["payments"].result(30)
    producer = Producer({"bootstrap.servers": process.bootstrap_servers})
    producer.produce("payments", json.dumps({"id": 7, "of": "eve"}), "k")
    assert producer.flush(30) == 0
    yield process
    process.stop()


@pytest.fixture(scope="module")
def console(bootstrap_servers: str, west: BrokerProcess) -> Iterator[ConsoleProcess]:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings = {
            "cluster.name": "home",
            "clusters.west.bootstrap.servers": west.bootstrap_servers,
            "clusters.dumb.bootstrap.servers": f"127.0.0.1:{silent.getsockname()[1]}",
        }
        given = [("--property", f"{name}={value}") for name, value in settings.items()]
        process = ConsoleProcess(bootstrap_servers, [part for each in given for part in each])
        process.start()
        yield process
        process.stop()


@pytest.fixture
def visitor(session: Browser, console: ConsoleProcess) -> Iterator[Browser]:
    """The browser of all tests, at this console."""
    before, session.url = session.url, console.url
    yield session
    assert session.complaints() == []
    # Its console is about to end, which the page would complain of.
    session.driver.get("about:blank")
    session.url = before
    session.complaints()


def _choose(visitor: Browser, cluster: str) -> None:
    visitor.script("document.querySelector('.hw-cluster').click()")
    visitor.click(cluster, ".q-menu .q-item")


def test_one_console_for_several_clusters(visitor: Browser) -> None:
    visitor.open("/topics", "Topics")
    visitor.sees("orders-avro", "table")
    _choose(visitor, "west")
    wait_for(lambda: visitor.path == "/clusters/west/topics")
    visitor.sees("payments", "table")
    assert "orders" not in visitor.text("table")
    links = visitor.script("return [...document.querySelectorAll('nav a')].map(a => a.pathname)")
    assert "/clusters/west/groups" in links
    assert [each for each in links if not each.startswith("/clusters")] == []

    visitor.click("payments", "table a")
    visitor.sees("payments", "h1")
    visitor.sees("eve", "table")
    visitor.type("Where", "value.id = 8")
    visitor.click("Search")
    visitor.sees("0 shown, 1 looked at.")
    assert visitor.path == "/clusters/west/topics/payments?where=value.id+%3D+8"
    visitor.open("/clusters/west/topics?q=nothing", "Topics")
    visitor.type("Search topics", "pay")
    wait_for(lambda: visitor.path == "/clusters/west/topics?q=pay")
    visitor.sees("payments", "table")  # as links of what was searched for, which
    visitor.click("payments", "table a")  # are written when nobody asks for a page
    wait_for(lambda: visitor.path == "/clusters/west/topics/payments")

    visitor.open("/clusters/west/topics", "Topics")
    visitor.click("New topic")
    visitor.type("Name", "made-in-the-west")
    visitor.click("Create")
    visitor.sees("made-in-the-west", "h1")
    assert visitor.path == "/clusters/west/topics/made-in-the-west"
    _choose(visitor, "home")
    wait_for(lambda: visitor.path == "/topics")
    visitor.open("/audit", "Audit")
    visitor.sees("Nobody has changed anything")
    visitor.open("/clusters/west/audit", "Audit")
    visitor.sees("made-in-the-west", "table")


def test_exports_name_the_cluster(console: ConsoleProcess) -> None:
    for place, name in (("", "home"), ("/clusters/west", "west")):
        topic = "orders" if name == "home" else "payments"
        url = f"{console.url}{place}/api/topics/{topic}/records?limit=1"
        with urlopen(url) as answer:
            assert f'"{name}.{topic}.jsonl"' in answer.headers["content-disposition"]
            assert json.loads(answer.readline())["cluster"] == name
        with urlopen(f"{url}&format=csv") as answer:
            heading, record = answer.read().decode().splitlines()
            assert (heading.rsplit(",")[-1], record.rsplit(",")[-1]) == ("cluster", name)


def test_a_cluster_that_never_answers(visitor: Browser) -> None:
    visitor.open("/clusters/dumb/topics", "Topics")
    visitor.sees("has not answered for")
    visitor.open("/clusters/dumb/topics/orders", "orders")
    visitor.open("/topics", "Topics")
    visitor.sees("orders-avro", "table")
    visitor.open("/clusters", "Clusters")
    visitor.sees("silent", "table")
    rows = dict(line.split("\t")[:2] for line in visitor.text("tbody").splitlines())
    assert (rows["home"], rows["west"]) == ("well", "well")
    visitor.click("west", "table a")
    visitor.sees("Overview", "h1")
    assert visitor.path == "/clusters/west"


@pytest.mark.needs("npm")
def test_nothing_keeps_people_from_using_the_chooser(visitor: Browser) -> None:
    for path in ("/clusters", "/clusters/west/topics"):
        visitor.open(path, "")
        assert violations(visitor) == [], path
