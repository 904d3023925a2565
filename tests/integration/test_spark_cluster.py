"""What a program asks a cluster before it starts, and no broker answers."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from headwater.clients import ClientError, ClusterAccess
from headwater.spark.cluster import Cluster
from headwater.streams import App

if TYPE_CHECKING:
    from tests.broker_process import BrokerProcess


def test_a_wrong_address_is_told_as_soon_as_by_other_commands() -> None:
    with socket.socket() as held:  # nothing listens there, and nobody else takes it
        held.bind(("127.0.0.1", 0))
        nobody = f"127.0.0.1:{held.getsockname()[1]}"
        with pytest.raises(ClientError, match=f"no broker answered at {nobody} within 5 s"):
            _ = Cluster(ClusterAccess(nobody)).id


def test_offsets_that_nobody_tells_are_no_fault_of_the_program(
    broker: BrokerProcess, topic: str
) -> None:
    servers = broker.bootstrap_servers
    app = App("app", bootstrap_servers=servers)
    app.stream(topic, value="string", start={topic: {0: 1}}).to(f"{topic}-out")

    class Before(Cluster):
        """The cluster as it was a moment ago, when the topic was there."""

        def partitions(self) -> dict[str, int]:
            return {topic: 1}

    with pytest.raises(ClientError, match=rf"the offsets of '{topic}'.* cannot be read"):
        Before(ClusterAccess(servers)).check_starts(app.plan())
