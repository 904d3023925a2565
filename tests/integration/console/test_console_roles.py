"""A console with users, each in a role, in a real browser; masks; and a broker that goes."""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from tests.broker_process import BrokerProcess
from tests.console_process import ConsoleProcess
from tests.waiting import HUNG_AFTER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.browser import Browser

pytestmark = pytest.mark.needs("chromium", "chromedriver")

USERS = {"vi": "viewer", "ed": "editor", "ann": "admin"}
BUTTONS = {"/topics": "New topic", "/topics/payments": "Produce", "/security/users": "New user"}


@pytest.fixture(scope="module")
def own_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    process = BrokerProcess(tmp_path_factory.mktemp("console-roles")).start()
    admin = AdminClient({"bootstrap.servers": process.bootstrap_servers})
    topics = [NewTopic(name, 1) for name in ("payments", "payments.copy", "plain")]
    for future in admin.create_topics(topics).values():
        future.result(30)
    producer = Producer({"bootstrap.servers": process.bootstrap_servers})
    producer.produce("payments", json.dumps({"id": 7, "card": {"number": "4111", "of": "eve"}}))
    assert producer.flush(30) == 0
    yield process
    process.stop()


@pytest.fixture(scope="module")
def console(
    own_broker: BrokerProcess, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ConsoleProcess]:
    users = tmp_path_factory.mktemp("users") / "users"
    users.write_text("".join(f"{name}: secret-{name}\n" for name in USERS))
    settings = {
        "admin.users": "ann",
        "editor.users": "ed",
        "masked.fields": "payments:value.card.number,*.copy:value.card",
        "audit.file": str(users.with_name("audit.jsonl")),
    }
    given = [part for name, value in settings.items() for part in ("--property", f"{name}={value}")]
    options = ["--users", str(users), *given]
    process = ConsoleProcess(own_broker.bootstrap_servers, options).start()
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


def _log_in(visitor: Browser, name: str) -> None:
    visitor.driver.delete_all_cookies()
    visitor.driver.get(f"{visitor.url}/login")
    send = "const form = document.forms[0]; form.name.value = arguments[0];"
    visitor.script(
        f"{send} form.password.value = arguments[1]; form.submit()", name, f"secret-{name}"
    )
    visitor.sees("Overview", "h1")


def test_admins_alone_change_what_is_logged(console: ConsoleProcess) -> None:
    for name, role in USERS.items():
        asked = urllib.request.Request(
            f"{console.url}/admin/loggers/headwater.console",
            data=b'{"level": "INFO"}',
            headers={
                "Content-Type": "application/json",
                "Authorization": "Basic "
                + base64.b64encode(f"{name}:secret-{name}".encode()).decode(),
            },
            method="PUT",
        )
        try:
            with urllib.request.urlopen(asked, timeout=HUNG_AFTER_S) as answer:
                status = answer.status
        except urllib.error.HTTPError as refused:
            status = refused.code
            refused.close()
        assert status == (200 if role == "admin" else 403), role


def test_what_each_role_sees_and_may_do(visitor: Browser, own_broker: BrokerProcess) -> None:
    for name, role in USERS.items():
        _log_in(visitor, name)
        visitor.sees(role, ".hw-top .hw-pill")
        assert ("Audit" in visitor.text("nav")) is (role == "admin")
        for path, button in BUTTONS.items():
            visitor.open(path, "")
            needs_admin = path.startswith("/security")
            is_there = role == "admin" or (role == "editor" and not needs_admin)
            assert (button in visitor.text("button")) is is_there, (role, path)
    visitor.open("/topics", "Topics")
    visitor.click("New topic")
    visitor.type("Name", "made-by-ann")
    visitor.click("Create")
    visitor.sees("made-by-ann", "h1")
    visitor.open("/security", "Security")
    visitor.sees("The cluster has no authorizer.")
    visitor.open("/audit?q=made-by", "Audit")
    visitor.sees("create topic", "table")
    visitor.sees("User:ann", "table")
    assert "tail -n 50" in visitor.text("code")
    _log_in(visitor, "ed")
    visitor.open("/audit", "Audit")
    visitor.sees("The audit trail is for admins.")
    assert "made-by-ann" not in visitor.text()


def test_nobody_sees_what_is_masked(visitor: Browser) -> None:
    _log_in(visitor, "ann")
    visitor.open("/topics/payments", "payments")
    visitor.sees("[hidden]", "table")
    visitor.sees("eve", "table")
    assert "4111" not in visitor.text()
    visitor.open("/topics/payments?where=value.card.number+%3D+4111", "payments")
    visitor.sees("0 shown, 1 looked at.")
    visitor.open("/topics/payments?columns=value.card.number,value.card.of", "payments")
    visitor.sees("eve", "td:nth-child(5)")
    assert visitor.text("td:nth-child(4)") == "[hidden]"


def test_nothing_masked_is_sent_where_it_is_seen(visitor: Browser) -> None:
    """Not even by admins; in a topic that hides as much, it may be."""
    _log_in(visitor, "vi")
    visitor.open("/topics/payments/records/0/0", "payments [0] at offset 0")
    visitor.sees("Copy as JSON", "button")
    assert "Send again" not in visitor.text("button")
    for name in ("ed", "ann"):
        _log_in(visitor, name)
        visitor.open("/topics/payments/records/0/0", "payments [0] at offset 0")
        visitor.click("Send again")
        visitor.type("To the topic", "plain")
        visitor.click("Send", ".q-dialog button")
        visitor.sees("'plain' would show some of them", ".q-dialog")
    visitor.type("To the topic", "payments.copy")
    visitor.click("Send", ".q-dialog button")
    visitor.sees("payments.copy [0] at offset 0", "h1")
    visitor.sees("[hidden]", "pre")
    assert "4111" not in visitor.text()
    visitor.open("/topics/plain", "plain")
    visitor.sees("There are no records here.")


def test_a_broker_that_goes_and_comes_back(visitor: Browser, own_broker: BrokerProcess) -> None:
    _log_in(visitor, "ann")
    visitor.sees("Nothing is wrong.")
    own_broker.kill()
    visitor.sees("The cluster does not answer")
    own_broker.start()
    visitor.sees("Nothing is wrong.")
    visitor.open("/topics/payments", "payments")
    visitor.sees("eve", "table")
