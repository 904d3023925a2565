"""Alerts from look to look: pending, firing, resolved, and what a webhook is told."""

from __future__ import annotations

import http.server
import json
import threading
from dataclasses import replace
from email import message_from_bytes
from typing import Any, ClassVar

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult
from tests.waiting import wait_for

from headwater.metrics.cluster_state import ClusterState, PartitionState, TopicState
from headwater.monitor.alerts.alerts import Alert, AlertBook
from headwater.monitor.alerts.conditions import PartitionOffline, TopicIdle
from headwater.monitor.alerts.delivery import Delivery, Webhook
from headwater.monitor.alerts.email import Email, MailServer
from headwater.monitor.alerts.rules import CLUSTER_DOWN, Rule
from headwater.monitor.cluster_monitor import Observation
from headwater.monitor.quiet_topics import QuietTopics
from headwater.processes.ports import FreePorts

OFFLINE = Rule("Offline", PartitionOffline(), 60, "critical")


def seen(*leaders: int, now_s: float = 0, **quiet: float) -> Observation:
    """A topic whose partitions have these leaders."""
    partitions = [PartitionState(i, leader, (1,), (1,), 0, 5) for i, leader in enumerate(leaders)]
    cluster = ClusterState([], [TopicState("orders", partitions)], [])
    return Observation(now_s, 0, cluster, {}, {}, {}, quiet)


def told(changed: list[Alert]) -> list[tuple[str, str]]:
    return [(alert.name, alert.state) for alert in changed]


def test_an_alert_fires_once_it_has_held_for_long_enough() -> None:
    book = AlertBook([OFFLINE], "plant")
    assert book.take(seen(1, -1), None, 100) == []
    (pending,) = book.alerts
    assert (pending.state, pending.since_s) == ("pending", 100)
    assert pending.message == "topic orders: partition 1 without a leader"
    assert pending.labels == {"cluster_name": "plant", "topic": "orders"}
    assert book.take(seen(1, -1), None, 159) == []
    assert told(book.take(seen(-1, -1), None, 160)) == [("Offline", "firing")]
    assert book.take(seen(-1, -1), None, 170) == []
    (over,) = book.take(seen(1, 1), None, 180)
    assert (over.state, over.since_s, over.ended_s) == ("resolved", 100, 180)
    assert book.alerts == []


def test_what_was_pending_goes_without_a_word() -> None:
    book = AlertBook([OFFLINE], "plant")
    book.take(seen(-1), None, 0)
    assert book.take(seen(1), None, 10) == []
    book.take(seen(-1), None, 50)
    assert book.take(seen(-1), None, 70) == []  # it begins anew


def test_while_the_cluster_is_away_the_rest_stays_as_it_was() -> None:
    book = AlertBook([Rule("Offline", PartitionOffline(), 0, "critical")], "plant")
    assert told(book.take(seen(-1), None, 0)) == [("Offline", "firing")]
    (down,) = book.take(None, "nobody answers", 10)
    assert (down.name, down.state) == (CLUSTER_DOWN, "firing")
    assert "nobody answers" in down.message
    assert {alert.name for alert in book.alerts} == {"Offline", CLUSTER_DOWN}
    assert book.take(None, "nobody answers", 20) == []
    assert told(book.take(seen(-1), None, 30)) == [(CLUSTER_DOWN, "resolved")]
    assert told(book.take(seen(1), None, 40)) == [("Offline", "resolved")]


def test_a_quiet_topic_is_told_after_its_time() -> None:
    quiet = QuietTopics()
    condition = TopicIdle("orders", 30)

    def found(end: int | None, now_s: float) -> list[str]:
        topic = TopicState("orders", [PartitionState(0, 1, (1,), (1,), 0, end)])
        cluster = ClusterState([], [topic], [])
        since = quiet.take(cluster, now_s)
        observation = Observation(now_s, 0, cluster, {}, {}, {}, since)
        return [each.message for each in condition.findings(observation)]

    assert found(5, 0) == []
    assert found(6, 20) == []
    assert found(6, 49) == []
    assert found(None, 50) == ["nothing was written to topic orders for 30 s"]
    assert found(7, 51) == []


class Receiver(http.server.BaseHTTPRequestHandler):
    """Fails the first time, as receivers do."""

    received: ClassVar[list[Any]] = []
    failures: ClassVar[int] = 1

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if Receiver.failures:
            Receiver.failures -= 1
            self.send_error(503)
            return
        Receiver.received.append(json.loads(body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


def test_a_webhook_is_told_until_it_takes_it() -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        delivery = Delivery([Webhook(f"http://127.0.0.1:{server.server_port}/hook")])
        alert = Alert("Offline", "critical", {"topic": "orders"}, 1, "it is gone", 0, "firing")
        delivery.tell([alert])
        delivery.tell([])
        (document,) = wait_for(lambda: Receiver.received)
        delivery.close()
        server.shutdown()
    assert (document["version"], document["status"]) == ("4", "firing")
    (one,) = document["alerts"]
    assert one["labels"] == {"alertname": "Offline", "severity": "critical", "topic": "orders"}
    assert one["annotations"] == {"summary": "it is gone"}
    assert one["startsAt"] == "1970-01-01T00:00:00Z"


def test_nobody_waits_for_a_webhook_that_is_not_there() -> None:
    delivery = Delivery([Webhook("http://127.0.0.1:1/hook")])
    alert = Alert("Offline", "critical", {}, 1, "it is gone", 0, "firing")
    for _ in range(2000):
        delivery.tell([alert])
    delivery.close()


class Mailbox:
    """Takes mail from those who log in."""

    def __init__(self) -> None:
        self.mails: list[Any] = []

    async def handle_DATA(self, _server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        assert session.auth_data.login == b"plant"
        self.mails.append(envelope)
        return "250 OK"


@pytest.mark.filterwarnings("ignore:Requiring AUTH")
def test_mail_is_sent_through_a_server() -> None:
    mailbox, ports = Mailbox(), FreePorts("127.0.0.1")
    server = Controller(
        mailbox,
        hostname="127.0.0.1",
        port=ports.pick(),
        authenticator=lambda *login: AuthResult(success=True, auth_data=login[-1]),
        auth_required=True,
        auth_require_tls=False,
    )
    server.start()
    try:
        known = MailServer(f"127.0.0.1:{server.port}", username="plant", password="secret")
        delivery = Delivery([Email(known, "plant@example.org", ["ann@example.org", "bob@b.org"])])
        alert = Alert("Offline", "critical", {"topic": "orders"}, 1, "it is gone", 0, "firing")
        delivery.tell([alert, replace(alert, name="Late", state="resolved")])
        (envelope,) = wait_for(lambda: mailbox.mails)
        delivery.close()
    finally:
        server.stop()
        ports.close()
    assert (envelope.mail_from, envelope.rcpt_tos) == (
        "plant@example.org",
        ["ann@example.org", "bob@b.org"],
    )
    mail = message_from_bytes(envelope.content)
    assert mail["Subject"] == "[CRITICAL] Offline and 1 more"
    assert str(mail.get_payload()).splitlines() == [
        "CRITICAL Offline: it is gone (topic=orders)",
        "RESOLVED Late: it is gone (topic=orders)",
    ]
