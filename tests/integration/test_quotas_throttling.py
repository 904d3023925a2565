"""Clients above their quotas: told to wait, and not read from until they have (as Apache Kafka)."""

from __future__ import annotations

import contextlib
import socket
import threading
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, Producer
from kio.schema.errors import ErrorCode
from tests.integration.raw_client import RawClient
from tests.integration.raw_quotas import Names, set_quotas
from tests.integration.raw_requests import (
    Topic,
    create_topic,
    fetch_partition,
    fetch_topic,
    produce_body,
)
from tests.integration.record_batches import batch_of, values_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.broker_process import BrokerProcess
    from tests.conftest import StartBroker

RATE = 100_000
"""Bytes a second that a busy machine exceeds as well, or else nobody would be throttled."""
WINDOWS = 2
"""Fewer than usual, so that a client gets one second's worth at once and not ten."""


@pytest.fixture
def broker(start_broker: StartBroker) -> BrokerProcess:
    return start_broker({"quota.window.num": str(WINDOWS)})


@pytest.fixture
def operator(broker: BrokerProcess) -> Iterator[RawClient]:
    """A connection that no quota of these tests is for."""
    with RawClient(broker, "operator") as client:
        yield client


def most_bytes(rate: float, seconds: float) -> float:
    """What may pass in a time: the rate, all windows at once, and what lumps let slip."""
    return rate * (seconds + WINDOWS) * 1.3


def milliseconds(answer: Any) -> int:
    return int(answer.throttle_time.total_seconds() * 1000)


@pytest.mark.parametrize("acks", ["all", "1"])
def test_a_producer_gets_its_rate_and_no_more(
    broker: BrokerProcess, operator: RawClient, topic: str, acks: str
) -> None:
    create_topic(operator, topic)
    set_quotas(operator, {"client-id": "app"}, producer_byte_rate=RATE)
    waits: list[float] = []
    errors: list[Any] = []
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "client.id": "app",
            "acks": acks,
            "batch.size": 20_000,
            "throttle_cb": lambda event: waits.append(event.throttle_time),
            "delivery.timeout.ms": 120_000,
        }
    )
    value = bytes(1000)
    count = 400
    started = monotonic()
    for _ in range(count):
        producer.produce(topic, value, on_delivery=lambda e, _: errors.append(e) if e else None)
        producer.poll(0)
    assert producer.flush(120) == 0
    elapsed = monotonic() - started
    producer.poll(1)
    assert errors == []
    assert count * len(value) <= most_bytes(RATE, elapsed)
    assert any(wait > 0 for wait in waits)


def test_acks_0_is_muted_too(broker: BrokerProcess, operator: RawClient, topic: str) -> None:
    made = create_topic(operator, topic)
    set_quotas(operator, {"client-id": "app"}, producer_byte_rate=RATE)
    batch = batch_of([bytes(50_000)])
    with RawClient(broker, "app") as client:
        started = monotonic()
        for _ in range(8):
            client.send("produce", 9, answered=False, **produce_body(made, batch, acks=0))
        client.call("metadata", 9, topics=[])  # answered when all before it have been read
        elapsed = monotonic() - started
    assert 8 * len(batch) <= most_bytes(RATE, elapsed)


def test_a_throttled_produce_is_answered_at_once_and_the_next_request_later(
    broker: BrokerProcess, operator: RawClient, topic: str
) -> None:
    made = create_topic(operator, topic)
    set_quotas(operator, {"client-id": "app"}, producer_byte_rate=RATE)
    batch = batch_of([bytes(90_000)])
    with RawClient(broker, "app") as client:
        waits = []
        for _ in range(4):
            started = monotonic()
            answer = client.call("produce", 9, **produce_body(made, batch))
            waits.append(milliseconds(answer))
            assert answer.responses[0].partition_responses[0].error_code is ErrorCode.none
            client.call("api_versions", 3)
            assert monotonic() - started >= waits[-1] / 1000
    assert sum(waits) > 0
    with RawClient(broker, "another") as client:
        assert milliseconds(client.call("produce", 9, **produce_body(made, batch))) == 0


def consume_all(client: RawClient, topic: Topic, end: int, version: int) -> list[int]:
    """Read a partition in a fetch session; the throttle times on the way."""
    offset, session_id, epoch, waits = 0, 0, 0, []
    while offset < end:
        started = monotonic()
        answer = client.call(
            "fetch",
            version,
            max_wait=500,
            min_bytes=1,
            max_bytes=50_000_000,
            session_id=session_id,
            session_epoch=epoch,
            topics=[fetch_topic(topic, fetch_partition(0, offset, max_bytes=50_000_000))],
        )
        assert answer.error_code is ErrorCode.none
        wait = milliseconds(answer)
        waits.append(wait)
        if wait:
            assert answer.responses == ()
            client.call("api_versions", 3)
            assert monotonic() - started >= wait / 1000
        if answer.session_id:
            session_id, epoch = answer.session_id, epoch + 1
        else:
            session_id = epoch = 0
        for responded in answer.responses:
            (partition,) = responded.partitions
            assert partition.error_code is ErrorCode.none
            found = values_in(partition.records)
            assert [at for at, _ in found] == list(range(offset, offset + len(found)))
            offset += len(found)
    return waits


@pytest.mark.parametrize("version", [12, 17])
def test_a_fetch_above_the_quota_is_empty_and_nothing_is_lost(
    broker: BrokerProcess, operator: RawClient, topic: str, version: int
) -> None:
    made = create_topic(operator, topic)
    count, size = 40, 10_000
    for _ in range(count):
        operator.call("produce", 9, **produce_body(made, batch_of([bytes(size)])))
    set_quotas(operator, {"client-id": "app"}, consumer_byte_rate=RATE)
    with RawClient(broker, "app") as client:
        started = monotonic()
        waits = consume_all(client, made, count, version)
        elapsed = monotonic() - started
    assert count * size <= most_bytes(RATE, elapsed)
    assert any(waits)
    with RawClient(broker, "another") as client:
        assert not any(consume_all(client, made, count, version))


def test_a_consumer_gets_everything_in_its_own_time(
    broker: BrokerProcess, operator: RawClient, topic: str
) -> None:
    made = create_topic(operator, topic)
    count, size = 40, 10_000
    for number in range(count):
        value = number.to_bytes(4, "big") + bytes(size)
        operator.call("produce", 9, **produce_body(made, batch_of([value])))
    set_quotas(operator, {"user": None, "client-id": None}, consumer_byte_rate=RATE)
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "client.id": "app",
            "group.id": topic,
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([topic])
    started = monotonic()
    seen: list[int] = []
    while len(seen) < count:
        message = consumer.poll(30)
        assert message is not None, seen
        assert message.error() is None
        seen.append(int.from_bytes(message.value()[:4], "big"))
    elapsed = monotonic() - started
    consumer.close()
    assert seen == list(range(count))
    assert count * size <= most_bytes(RATE, elapsed)


def test_time_is_a_quota_of_every_request(broker: BrokerProcess, operator: RawClient) -> None:
    both: list[tuple[Names, bool]] = [
        ({"user": "ANONYMOUS"}, True),
        ({"user": None}, True),
        ({"client-id": "app"}, True),
        ({"client-id": None}, True),
        ({"user": "ANONYMOUS", "client-id": "app"}, True),
        ({"user": None, "client-id": None}, True),
        ({"user": "somebody"}, False),
        ({"client-id": "other"}, False),
        ({"user": "somebody", "client-id": None}, False),
    ]
    for names, throttles in both:
        set_quotas(operator, names, request_percentage=0.0001)
        with RawClient(broker, "app") as client:
            waits = [milliseconds(client.call("metadata", 9, topics=[])) for _ in range(3)]
        assert any(waits) == throttles, names
        assert max(waits) <= 1000
        # The operator was throttled as well, where the quota is for everybody.
        set_quotas(operator, names, request_percentage=None)


def test_the_closer_quota_counts(broker: BrokerProcess, operator: RawClient, topic: str) -> None:
    made = create_topic(operator, topic)
    set_quotas(operator, {"client-id": None}, producer_byte_rate=1000)
    set_quotas(operator, {"client-id": "app"}, producer_byte_rate=10_000 * RATE)
    body = produce_body(made, batch_of([bytes(50_000)]))
    with RawClient(broker, "app") as client:
        assert milliseconds(client.call("produce", 9, **body)) == 0
    with RawClient(broker, "another") as client:
        assert milliseconds(client.call("produce", 9, **body)) > 0


def test_a_quota_that_is_removed_holds_nobody_back(
    broker: BrokerProcess, operator: RawClient, topic: str
) -> None:
    made = create_topic(operator, topic)
    set_quotas(operator, {"client-id": "app"}, producer_byte_rate=1000)
    set_quotas(operator, {"client-id": "app"}, producer_byte_rate=None)
    body = produce_body(made, batch_of([bytes(50_000)]))
    with RawClient(broker, "app") as client:
        assert [milliseconds(client.call("produce", 9, **body)) for _ in range(3)] == [0, 0, 0]


def test_clients_of_one_user_share_what_the_user_may(
    broker: BrokerProcess, operator: RawClient, topic: str
) -> None:
    made = create_topic(operator, topic)
    set_quotas(operator, {"user": "ANONYMOUS"}, producer_byte_rate=RATE)
    batch = batch_of([bytes(50_000)])
    count, each = 3, 4

    def send(name: str) -> None:
        with RawClient(broker, name) as client:
            for _ in range(each):
                client.call("produce", 9, **produce_body(made, batch))

    started = monotonic()
    threads = [threading.Thread(target=send, args=(f"app-{n}",)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    elapsed = monotonic() - started
    # Three connections may be in their last produce at once.
    assert (count * each - count) * len(batch) <= most_bytes(RATE, elapsed)


def create_topics(client: RawClient, version: int, names: list[str], partitions: int) -> Any:
    return client.call(
        "create_topics",
        version,
        topics=[
            {"name": name, "num_partitions": partitions, "replication_factor": 1} for name in names
        ],
        timeout=30_000,
    )


def test_topics_beyond_the_quota_are_refused(start_broker: StartBroker, topic: str) -> None:
    broker = start_broker({"controller.quota.window.num": "2"})
    with RawClient(broker, "operator") as operator, RawClient(broker, "app") as client:
        set_quotas(operator, {"client-id": "app"}, controller_mutation_rate=0.01)
        names = [f"{topic}-{number}" for number in range(3)]
        answer = create_topics(client, 7, names, partitions=2)
        codes = [created.error_code for created in answer.topics]
        assert sorted(codes) == [ErrorCode.none] + 2 * [ErrorCode.throttling_quota_exceeded]
        assert milliseconds(answer) > 0


def test_clients_too_old_for_that_error_are_served_and_told_to_wait(
    start_broker: StartBroker, topic: str
) -> None:
    broker = start_broker({"controller.quota.window.num": "2"})
    with RawClient(broker, "operator") as operator, RawClient(broker, "app") as client:
        set_quotas(operator, {"client-id": "app"}, controller_mutation_rate=0.01)
        names = [f"{topic}-{number}" for number in range(3)]
        answer = create_topics(client, 5, names, partitions=2)
        assert {created.error_code for created in answer.topics} == {ErrorCode.none}
        assert milliseconds(answer) > 0


def is_answered(attempt: socket.socket) -> bool:
    """Ask for the versions, and say whether that was answered."""
    try:
        attempt.sendall(b"\x00\x00\x00\x0a\x00\x12\x00\x00\x00\x00\x00\x01\xff\xff")
        return attempt.recv(4) != b""
    except ConnectionError:
        return False


def test_an_address_that_connects_too_fast_is_held_off(
    broker: BrokerProcess, operator: RawClient
) -> None:
    set_quotas(operator, {"ip": "127.0.0.1"}, connection_creation_rate=2)
    with contextlib.ExitStack() as stack:
        attempts = [
            stack.enter_context(socket.create_connection(("127.0.0.1", broker.port), timeout=30))
            for _ in range(20)
        ]
        refused = sum(not is_answered(attempt) for attempt in attempts)
    assert 0 < refused < 20
    set_quotas(operator, {"ip": "127.0.0.1"}, connection_creation_rate=None)
    with RawClient(broker) as client:
        client.call("metadata", 9, topics=[])
