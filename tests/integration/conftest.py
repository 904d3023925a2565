"""Fixtures for the tests that speak the protocol themselves, and for those of either engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient
from tests.integration.raw_client import RawClient
from tests.integration.raw_requests import Topic, create_topic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.broker_process import BrokerProcess


@pytest.fixture
def client(broker: BrokerProcess) -> Iterator[RawClient]:
    """One raw connection to the module's broker."""
    with RawClient(broker) as connection:
        yield connection


@pytest.fixture
def admin(broker: BrokerProcess) -> AdminClient:
    """confluent-kafka's admin client for the module's broker."""
    return AdminClient({"bootstrap.servers": broker.bootstrap_servers})


@pytest.fixture
def created(client: RawClient, topic: str) -> Topic:
    """A topic of this test's own with one partition."""
    return create_topic(client, topic)


@pytest.fixture(scope="module")
def bootstrap_servers(broker: BrokerProcess) -> str:
    """Where the module's broker is; with HEADWATER_TEST_BROKER it is any other one."""
    return broker.bootstrap_servers
