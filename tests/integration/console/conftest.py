"""One platform, filled, and one browser for all tests of the console's pages."""

from __future__ import annotations

import json
import struct
import sys
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from examples.plant.__main__ import TOUR
from examples.plant.simulator import Simulator
from tests.integration.console.what_is_there import HACK, HOSTILE, V1, V2
from tests.unit.up.supervised import Supervised
from tests.waiting import wait_for

from headwater.serde import AvroSerializer, Schema, SchemaRegistryClient

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.browser import Browser

AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


@pytest.fixture(scope="package")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Supervised]:
    """A platform with all services; nothing here starts a JVM."""
    directory = tmp_path_factory.mktemp("console")
    command = [
        *(sys.executable, "-m", "headwater", "up", "--free-ports"),
        *("--with", "connect,sql", "--data", str(directory / "platform")),
        *("--property", f"console.tour.file={TOUR}"),
        *("--property", f"broker.authorizer.class.name={AUTHORIZER}"),
        *("--property", "broker.super.users=User:ANONYMOUS"),
    ]
    with Supervised(command, directory) as running:
        # The last line of the table, so that all others were read.
        running.wait_for(r"^sql\t(\S+)\t")
        # The platform does not wait for what people look at.
        running.wait_for(r"console listening on")
        yield running


@pytest.fixture(scope="package")
def addresses(platform: Supervised) -> dict[str, str]:
    """Where its services are, once there is something to see."""
    found = dict(line.split("\t")[:2] for line in platform.lines if line.count("\t") == 2)
    _make_records(found["broker"], found["registry"])
    _make_plant(found["broker"], found["registry"])
    return found


@pytest.fixture(scope="package")
def bootstrap_servers(addresses: dict[str, str]) -> str:
    """Where the platform's broker is."""
    return addresses["broker"]


@pytest.fixture(scope="package")
def session(addresses: dict[str, str]) -> Iterator[Browser]:
    from tests.browser import Browser

    browser = Browser(addresses["console"])
    yield browser
    browser.close()


@pytest.fixture
def browser(session: Browser) -> Iterator[Browser]:
    """The browser of all tests here; none of them may leave an error in its console."""
    yield session
    assert session.complaints() == []
    assert session.script("return window.hacked") is None


def _make_records(bootstrap_servers: str, registry_url: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    wanted = [("orders", 2), ("orders-avro", 1), ("orders.eu", 1), ("hostile", 1), ("numbers", 1)]
    for future in admin.create_topics([NewTopic(*each, 1) for each in wanted]).values():
        future.result(30)
    producer = Producer({"bootstrap.servers": bootstrap_servers})
    for number in range(120):
        value = json.dumps({"id": number, "customer": {"city": f"city-{number % 4}"}})
        producer.produce("orders", value, f"key-{number}", headers={"trace": f"t{number}"})
    for text in HOSTILE:
        producer.produce("hostile", text, f"<i>{HACK}</i>", headers={f"<b>{HACK}</b>": text})
    producer.produce("hostile", bytes(range(256)), b"binary")
    producer.produce("hostile", b"long " * 180_000, b"huge")
    producer.produce("hostile", None, b"tombstone")
    producer.produce("numbers", struct.pack(">q", 4711), struct.pack(">i", 12))
    with SchemaRegistryClient(registry_url) as registry:
        for version in (V1, V2):
            registry.register_schema("orders-avro-value", Schema(json.dumps(version)))
        encode = AvroSerializer(registry, json.dumps(V2))
        order = encode({"id": 7, "city": "Lyon", "paid": True}, "orders-avro")
        producer.produce("orders-avro", order)
    assert producer.flush(30) == 0
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": "billing",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe(["orders"])
    wait_for(lambda: consumer.poll(1))
    consumer.commit(asynchronous=False)
    consumer.close()


def _make_plant(bootstrap_servers: str, registry_url: str) -> None:
    """Make the plant's topics and schemas, and an alert, for its tour."""
    plant = Simulator(bootstrap_servers, registry_url)
    plant.prepare()
    plant.stop()
    producer = Producer({"bootstrap.servers": bootstrap_servers})
    producer.produce("alerts", '{"source": "fan", "reason": "motor in error", "value": "error"}')
    assert producer.flush(30) == 0
