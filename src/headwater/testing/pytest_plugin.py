"""The pytest fixture `kafka_broker`; imports nothing heavy, since every pytest run loads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.testing.broker import Broker


@pytest.fixture
def kafka_broker_properties() -> dict[str, str]:
    """Broker settings for `kafka_broker`; override it in a conftest or a test module."""
    return {}


@pytest.fixture
def kafka_broker(kafka_broker_properties: dict[str, str]) -> Iterator[Broker]:
    """A fresh Kafka broker in this process, on a free port, gone after the test.

    def test_orders(kafka_broker):
        producer = Producer({"bootstrap.servers": kafka_broker.bootstrap_servers})
    """
    from headwater.testing.broker import Broker

    with Broker(kafka_broker_properties) as broker:
        yield broker
