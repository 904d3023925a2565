"""Clients that ask for much and take nothing: what they can make the broker hold is bounded."""

from __future__ import annotations

import contextlib
import struct
from typing import TYPE_CHECKING

import pytest
from tests.fetch_frames import fetch_frame, session_id_in
from tests.integration.raw_client import TIMEOUT_S, RawClient, request_frame
from tests.integration.raw_requests import produce
from tests.integration.record_batches import batch_of
from tests.integration.scrape import Metrics
from tests.waiting import wait_for

from headwater.broker.fetch.session import MOST_PARTITIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.broker_process import BrokerProcess
    from tests.conftest import StartBroker
    from tests.integration.raw_requests import Topic

MEGABYTE = 1 << 20
MAX_FRAME = 104_857_600  # socket.request.max.bytes
TOPICS = 7
PARTITIONS = 300
PARTITIONS_IN_SESSIONS = "kafka_server_fetchsessioncache_numincrementalfetchpartitionscached"


@pytest.fixture(scope="module")
def crowded(broker: BrokerProcess) -> BrokerProcess:
    """A broker whose Metadata answer takes some 100 KB."""
    with RawClient(broker) as client:
        created = client.call(
            "create_topics",
            7,
            topics=[
                {"name": f"t.{i}", "num_partitions": PARTITIONS, "replication_factor": 1}
                for i in range(TOPICS)
            ],
            timeout=60_000,
        )
        assert {topic.error_code for topic in created.topics} == {0}
        assert len(client.call("metadata", 12, topics=None).topics) == TOPICS
    return broker


@contextlib.contextmanager
def clients(broker: BrokerProcess, count: int) -> Iterator[list[RawClient]]:
    opened = [RawClient(broker) for _ in range(count)]
    try:
        yield opened
    finally:
        for client in opened:
            client.close()


@pytest.mark.parametrize("is_later", [False, True], ids=["at once", "later"])
def test_pipelining_without_reading(crowded: BrokerProcess, is_later: bool) -> None:
    """Answers that are there at once, and answers after a vain attempt to create a topic."""
    topics = None
    if is_later:
        topics = [{"name": f"t.{i}"} for i in range(TOPICS)] + [{"name": "t_0"}]
    frame = request_frame("metadata", 12, 1, "raw", {"topics": topics})
    flood = (struct.pack(">i", len(frame)) + frame) * (4 * MEGABYTE // len(frame))
    before = crowded.rss
    with clients(crowded, 50) as crowd:
        for client in crowd:
            client.socket.setblocking(False)
            sent = client.socket.send(flood)
            assert sent > 64 * 1024
        with RawClient(crowded, "bystander") as bystander:
            for _ in range(50):
                assert bystander.call("metadata", 12, topics=[]).brokers
                assert crowded.rss < before + 160 * MEGABYTE
    wait_for(lambda: crowded.rss < before + 64 * MEGABYTE, lambda: f"{crowded.rss} bytes")


def test_claims_of_large_frames(broker: BrokerProcess) -> None:
    before = broker.rss
    with clients(broker, 300) as claimants:
        for claimant in claimants:
            claimant.socket.sendall(struct.pack(">i", MAX_FRAME) + b"\x00\x00\x00\x0c")
        with RawClient(broker) as client:
            for _ in range(3):
                assert client.call("metadata", 12, topics=[]).brokers
        assert broker.rss < before + 32 * MEGABYTE  # of 30 GB claimed


def test_sessions_of_many_partitions(start_broker: StartBroker) -> None:
    broker = start_broker({"headwater.metrics.port": "0"})
    many = range(20_000)
    frame = fetch_frame("nowhere", many, offset=1_000_000, session_epoch=0)
    before = broker.rss
    with RawClient(broker) as client:
        ids = []
        for _ in range(40):
            client.send_frame(frame)
            answer = client.receive_frame()
            ids.append(session_id_in(answer))
            assert len(answer) > 38 * len(many)  # with or without a session, all is answered
        assert Metrics(broker).value(PARTITIONS_IN_SESSIONS) <= MOST_PARTITIONS
        assert [session_id > 0 for session_id in ids] == [number < 12 for number in range(40)]
        assert broker.rss < before + 192 * MEGABYTE  # of 330 MB
        for session_id in filter(None, ids):
            client.send_frame(fetch_frame("nowhere", (), session_id=session_id))
            client.receive_frame()
    assert Metrics(broker).value(PARTITIONS_IN_SESSIONS) == 0


def test_fetches_that_wait(broker: BrokerProcess, client: RawClient, created: Topic) -> None:
    """One partition named again and again takes memory only until the request has been read."""
    frame = fetch_frame(created.name, [0] * 20_000, max_wait_ms=600_000)
    many = 60
    flood = memoryview((struct.pack(">i", len(frame)) + frame) * many)
    before = broker.rss
    with RawClient(broker, "bystander") as bystander:
        client.socket.setblocking(False)
        for _ in range(300):
            with contextlib.suppress(BlockingIOError):
                flood = flood[client.socket.send(flood) :]
            assert bystander.call("metadata", 12, topics=[]).brokers
            assert broker.rss < before + 64 * MEGABYTE  # of 150 MB
        produce(bystander, created, batch_of([b"at last"]))
    client.socket.settimeout(TIMEOUT_S)
    client.socket.sendall(flood)
    for _ in range(many):
        assert b"at last" in client.receive_frame()
