"""Three brokers and three controllers of Apache Kafka for all lessons of one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cluster.brokers import restore

from headwater.cluster import KafkaCluster

if TYPE_CHECKING:
    from collections.abc import Iterator

SETTINGS = {
    # A dead broker is noticed sooner than after nine seconds, and a busy machine is not yet dead.
    "broker.session.timeout.ms": "6000",
    "broker.heartbeat.interval.ms": "500",
    # Half a minute is long to wait for the answer of a controller that froze.
    "controller.socket.timeout.ms": "4000",
    # One thread after the other: once a record is acknowledged, all that waited for it was told.
    "num.io.threads": "1",
    "num.network.threads": "1",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "replica.fetch.backoff.ms": "200",
    # Leaders go back to where they belong when a lesson says so.
    "leader.imbalance.check.interval.seconds": "86400",
    "log.cleaner.dedupe.buffer.size": "4194304",
}


@pytest.fixture(scope="module")
def one_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    directory = tmp_path_factory.mktemp("cluster")
    with KafkaCluster(directory, brokers=3, controllers=3, settings=SETTINGS) as cluster:
        yield cluster


@pytest.fixture
def cluster(one_cluster: KafkaCluster) -> KafkaCluster:
    """The cluster in full health, whatever the lesson before did to it."""
    restore(one_cluster)
    return one_cluster
