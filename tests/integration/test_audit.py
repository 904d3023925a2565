"""The audit log of a running broker: who did what, and that it never stands in the way."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from tests.integration.raw_client import RawClient
from tests.secured_broker import SecuredBroker
from tests.waiting import HUNG_AFTER_S, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


def settings(directory: Path) -> dict[str, str]:
    return {
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.login.plain.sasl.jaas.config": (
            f'{MODULE} required user_boss="boss" user_ann="ann";'
        ),
        "authorizer.class.name": AUTHORIZER,
        "super.users": "User:boss;User:ANONYMOUS",
        "headwater.audit.file": str(directory / "audit.log"),
        "headwater.audit.topic": "audit",
        # Longer than any test takes: what is counted is told at the end.
        "headwater.audit.sample.interval.ms": "3600000",
    }


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[SecuredBroker]:
    protocols = {"LOGIN": "SASL_PLAINTEXT"}
    broker = SecuredBroker(tmp_path / "data", protocols, settings(tmp_path)).start()
    yield broker
    broker.stop()


def as_user(broker: SecuredBroker, user: str) -> dict[str, Any]:
    return {
        "bootstrap.servers": broker.address("LOGIN"),
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
        "sasl.password": user,
        "client.id": f"{user}'s client",
    }


def events(path: Path) -> list[dict[str, Any]]:
    whole, _, _ = path.read_bytes().rpartition(b"\n")  # it may be at its next line just now
    return [json.loads(line) for line in whole.splitlines()]


def told(path: Path, **wanted: Any) -> list[dict[str, Any]]:
    return [event for event in events(path) if wanted.items() <= event.items()]


def write(broker: SecuredBroker, user: str, topic: str) -> None:
    failed: list[Any] = []
    producer = Producer({**as_user(broker, user), "linger.ms": 0})
    for number in range(20):
        producer.produce(topic, b"%d" % number, on_delivery=lambda error, _: failed.append(error))
        producer.flush(HUNG_AFTER_S)
    assert failed == [None] * 20


def test_changes_refusals_and_reads_are_told(broker: SecuredBroker, tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    boss = AdminClient(as_user(broker, "boss"))
    boss.create_topics([NewTopic("orders", 1)])["orders"].result(HUNG_AFTER_S)
    ann = AdminClient(as_user(broker, "ann"))
    with pytest.raises(KafkaException, match="AUTHORIZATION_FAILED"):
        ann.create_topics([NewTopic("mine", 1)])["mine"].result(HUNG_AFTER_S)
    write(broker, "boss", "orders")
    wait_for(lambda: told(path, operation="WRITE", resource="orders"))
    # A super user's right to all topics is still told by the topic.
    (created,) = told(path, operation="CREATE", resource="orders")
    assert {**created, "time": ""} == {
        "time": "", "principal": "User:boss", "host": "127.0.0.1", "listener": "LOGIN",
        "clientId": "boss's client", "api": "CREATE_TOPICS", "operation": "CREATE",
        "resourceType": "TOPIC", "resource": "orders", "allowed": True, "count": 1,
    }  # fmt: skip
    (refused,) = told(path, operation="CREATE", resource="mine")
    assert (refused["principal"], refused["allowed"]) == ("User:ann", False)
    assert not any("password" in str(event) for event in events(path))
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "group.id": "auditors",
         "auto.offset.reset": "earliest"}
    )  # fmt: skip
    consumer.subscribe(["audit"])
    message = wait_for(lambda: consumer.poll(1.0))
    assert json.loads(message.value())["principal"]
    consumer.close()
    broker.stop()
    # Twenty requests are two lines: the first at once, and what followed as a count.
    counts = [each["count"] for each in told(path, api="PRODUCE", resource="orders")]
    assert counts[0] == 1
    assert len(counts) == 2
    assert sum(counts) <= 20
    broker.start()


def test_logins_are_told_and_failures_are_counted(broker: SecuredBroker, tmp_path: Path) -> None:
    path = tmp_path / "audit.log"

    class Gate:
        port = broker.port_of("LOGIN")

    def log_in(password: str) -> int:
        with RawClient(Gate()) as client:
            client.call("sasl_handshake", 1, mechanism="PLAIN")
            message = f"\0ann\0{password}".encode()
            return int(client.call("sasl_authenticate", 2, auth_bytes=message).error_code)

    assert log_in("ann") == 0
    (came,) = wait_for(lambda: told(path, operation="LOGIN", allowed=True))
    assert {**came, "time": ""} == {
        "time": "", "principal": "User:ann", "host": "127.0.0.1", "listener": "LOGIN",
        "clientId": None, "api": "SASL_AUTHENTICATE", "operation": "LOGIN", "resourceType": None,
        "resource": None, "allowed": True, "mechanism": "PLAIN", "cause": None, "count": 1,
    }  # fmt: skip
    assert [log_in("guessed") for _ in range(5)] == [58] * 5
    with RawClient(Gate()) as client:
        assert client.call("sasl_handshake", 1, mechanism="ODD").error_code == 33
    broker.stop()
    failed = told(path, operation="LOGIN", allowed=False, mechanism="PLAIN")
    assert [each["count"] for each in failed] == [1, 4]
    assert {each["principal"] for each in failed} == {"User:ANONYMOUS"}
    assert all("Invalid username or password" in each["cause"] for each in failed)
    assert "guessed" not in path.read_text()
    (odd,) = told(path, operation="LOGIN", allowed=False, mechanism=None)
    assert "it wants the SASL mechanism 'ODD'" in odd["cause"]
    broker.start()


def test_what_was_told_survives_a_kill(broker: SecuredBroker, tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    boss = AdminClient(as_user(broker, "boss"))
    for number in range(3):
        name = f"topic-{number}"
        boss.create_topics([NewTopic(name, 1)])[name].result(HUNG_AFTER_S)
        wait_for(partial(told, path, operation="CREATE", resource=name))
        broker.kill()
        with path.open("ab") as file:
            file.write(b'{"time":"torn')
        broker.start()
        assert [each["resource"] for each in told(path, api="CREATE_TOPICS")] == [
            f"topic-{earlier}" for earlier in range(number + 1)
        ]
        boss = AdminClient(as_user(broker, "boss"))


def test_a_full_disk_does_not_stop_the_broker(tmp_path: Path) -> None:
    full = {**settings(tmp_path), "headwater.audit.file": "/dev/full"}
    broker = SecuredBroker(tmp_path / "data", {"LOGIN": "SASL_PLAINTEXT"}, full).start()
    boss = AdminClient(as_user(broker, "boss"))
    boss.create_topics([NewTopic("orders", 1)])["orders"].result(HUNG_AFTER_S)
    wait_for(lambda: "the audit log cannot be written: [Errno 28]" in broker.text)
    write(broker, "boss", "orders")
    broker.stop()


def test_a_file_that_cannot_be_had_is_said_at_start(tmp_path: Path) -> None:
    nowhere = {**settings(tmp_path), "headwater.audit.file": str(tmp_path / "none" / "audit.log")}
    broker = SecuredBroker(tmp_path / "data", {"LOGIN": "SASL_PLAINTEXT"}, nowhere)
    with pytest.raises(AssertionError, match=r"configuration headwater\.audit\.file: No such"):
        broker.start()
