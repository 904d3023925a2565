"""Clients that misbehave: each gets an error or a closed connection, the log says why, memory stays
bounded, and everybody else is served as before."""

from __future__ import annotations

import random
import resource
import socket
import struct
from typing import TYPE_CHECKING

import pytest
from tests.conftest import unmet
from tests.integration.raw_client import RawClient, request_frame
from tests.integration.raw_requests import (
    Topic,
    create_topic,
    fetch,
    fetch_partition,
    fetch_topic,
    produce,
    produce_body,
)
from tests.integration.record_batches import batch_of, values_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.broker_process import BrokerProcess
    from tests.conftest import StartBroker

MEGABYTE = 1 << 20
IDLE_CONNECTIONS = 2000
MAX_FRAME = 104_857_600  # socket.request.max.bytes
HEADER = struct.Struct(">hhih")


@pytest.fixture(autouse=True)
def others_notice_nothing(broker: BrokerProcess, topic: str) -> Iterator[None]:
    """A client that was there before works throughout and afterwards, and so does a new one."""
    with RawClient(broker, "bystander") as before:
        created = create_topic(before, f"{topic}-bystander")
        assert produce(before, created, batch_of([b"before"])).base_offset == 0
        yield
        assert produce(before, created, batch_of([b"after"])).base_offset == 1
    with RawClient(broker, "newcomer") as after:
        assert values_in(fetch(after, created).records) == [(0, b"before"), (1, b"after")]
    assert "Traceback" not in broker.text


def test_oversized_frame(broker: BrokerProcess) -> None:
    with RawClient(broker) as client:
        client.socket.sendall(struct.pack(">i", MAX_FRAME + 1))

        assert client.is_closed_by_broker()
        assert the_line_with(f"{MAX_FRAME + 1} bytes", broker)


@pytest.mark.parametrize("size", [-1, -(2**31), 0])
def test_size_that_is_not_positive(broker: BrokerProcess, size: int) -> None:
    with RawClient(broker) as client:
        client.socket.sendall(struct.pack(">i", size) + b"whatever")

        assert client.is_closed_by_broker()
        assert the_line_with("not positive", broker)


@pytest.mark.parametrize("keep", [1, 3, 4, 10, 60])
def test_frame_cut_off_by_hanging_up(broker: BrokerProcess, created: Topic, keep: int) -> None:
    frame = request_frame("produce", 12, 1, "raw", produce_body(created, batch_of([b"x" * 100])))
    with RawClient(broker) as client:
        client.socket.sendall((struct.pack(">i", len(frame)) + frame)[:keep])
        client.socket.shutdown(socket.SHUT_WR)

        assert client.is_closed_by_broker()
        assert the_line_with("middle of a frame", broker)


@pytest.mark.parametrize("api_key", [99, 32767, -1])
def test_unknown_api(broker: BrokerProcess, api_key: int) -> None:
    with RawClient(broker) as client:
        client.send_frame(HEADER.pack(api_key, 0, 1, 0))

        assert client.is_closed_by_broker()
        assert the_line_with(f"{api_key} is not one of Kafka's", broker)


@pytest.mark.parametrize("api_key", [4, 5, 6, 7])
def test_an_api_that_is_not_served(broker: BrokerProcess, api_key: int) -> None:
    name = ["LEADER_AND_ISR", "STOP_REPLICA", "UPDATE_METADATA", "CONTROLLED_SHUTDOWN"][api_key - 4]
    with RawClient(broker) as client:
        client.send_frame(HEADER.pack(api_key, 2, 1, 0) + bytes(20))

        assert client.is_closed_by_broker()
        served = f"it sent {name} (API key {api_key}) v2, which is not served"
        line = the_line_with(served, broker)
        assert "may not be speaking" not in line


@pytest.mark.parametrize(("api_key", "version"), [(0, 14), (0, 2), (1, 3), (1, 19), (3, -1)])
def test_unknown_version(broker: BrokerProcess, api_key: int, version: int) -> None:
    with RawClient(broker) as client:
        client.send_frame(HEADER.pack(api_key, version, 1, 0) + bytes(20))

        assert client.is_closed_by_broker()
        assert the_line_with(f"(API key {api_key}) v{version}, of which only", broker)


@pytest.mark.parametrize("api", ["produce", "fetch", "metadata", "list_offsets", "create_topics"])
@pytest.mark.parametrize("version", [5, 7])
def test_body_cut_off_inside_a_whole_frame(broker: BrokerProcess, api: str, version: int) -> None:
    body: dict[str, object] = {
        "topics": [{"name": "some-topic", "topic": "some-topic", "partitions": []}],
        "topic_data": [{"name": "some-topic"}],
        "acks": 1,
    }
    frame = request_frame(api, version, 1, "raw", body)
    for end in range(11, len(frame), 3):
        with RawClient(broker) as client:
            client.send_frame(frame[:end])
            assert client.is_closed_by_broker(), f"{api} v{version} cut after {end} bytes"
    assert the_line_with(f") v{version} is malformed", broker)


@pytest.mark.parametrize("count", [2**31 - 1, 10**9, 10**6])
@pytest.mark.parametrize(("api_key", "version"), [(1, 4), (2, 1), (3, 1), (19, 2)])
def test_huge_counts_in_small_frames(
    broker: BrokerProcess, api_key: int, version: int, count: int
) -> None:
    """An array that claims a billion entries costs nothing but the connection."""
    with RawClient(broker) as client:
        prefix = {1: bytes(17), 2: bytes(4), 3: b"", 19: b""}[api_key]
        client.send_frame(HEADER.pack(api_key, version, 1, 0) + prefix + struct.pack(">i", count))

        assert client.is_closed_by_broker()
        assert the_line_with(f"(API key {api_key}) v{version} is malformed", broker)
    assert broker.rss < 200 * MEGABYTE


def test_http_and_tls_by_mistake(broker: BrokerProcess) -> None:
    http, tls = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc"
    for greeting, reason in (
        (http, "may not be speaking Kafka's protocol"),
        (tls, "it speaks TLS, and the listener PLAINTEXT speaks plain text"),
    ):
        with RawClient(broker) as client:
            client.socket.sendall(greeting)
            assert client.is_closed_by_broker()
            assert the_line_with(reason, broker)


def test_the_same_reason_is_told_a_few_times_and_then_counted(start_broker: StartBroker) -> None:
    """A client that comes back at once, for ever, does not fill the disk with what it does."""
    broker = start_broker()
    for _ in range(20):
        with RawClient(broker) as client:
            client.send_frame(HEADER.pack(4, 2, 1, 0) + bytes(20))
            assert client.is_closed_by_broker()
    broker.stop()
    assert 1 <= broker.text.count("LEADER_AND_ISR (API key 4) v2") <= 3


def test_random_bytes(broker: BrokerProcess) -> None:
    before = broker.rss
    for seed in range(300):
        noise = random.Random(seed)
        garbage = noise.randbytes(noise.randrange(1, 2000))
        with RawClient(broker) as client:
            try:
                client.socket.sendall(garbage)
                client.socket.shutdown(socket.SHUT_WR)
                drain(client)
            except ConnectionError:
                pass  # hung up on while still talking
    assert broker.rss < before + 64 * MEGABYTE


def test_random_bodies_behind_valid_headers(broker: BrokerProcess) -> None:
    """Noise that gets past the header reaches every handler's decoder."""
    for seed in range(600):
        noise = random.Random(seed)
        header = HEADER.pack(noise.choice([0, 1, 2, 3, 18, 19, 20, 21, 23, 32, 33, 35, 37, 44, 60]),
                             noise.randrange(14), seed, 0)  # fmt: skip
        with RawClient(broker) as client:
            client.send_frame(header + noise.randbytes(noise.randrange(200)))
            client.socket.shutdown(socket.SHUT_WR)
            drain(client)


def test_flipped_bits_in_valid_requests(broker: BrokerProcess, created: Topic) -> None:
    whole = request_frame("produce", 12, 1, "raw", produce_body(created, batch_of([b"v"] * 3)))
    for seed in range(300):
        noise = random.Random(seed)
        frame = bytearray(whole)
        for _ in range(noise.randrange(1, 4)):
            frame[noise.randrange(len(frame))] ^= 1 << noise.randrange(8)
        with RawClient(broker) as client:
            client.send_frame(bytes(frame))
            client.socket.shutdown(socket.SHUT_WR)
            drain(client)


def test_a_reader_that_never_reads(broker: BrokerProcess, client: RawClient, topic: str) -> None:
    """Hundreds of megabytes asked for and not taken must not pile up in the broker."""
    heavy = create_topic(client, topic)
    for _ in range(8):
        produce(client, heavy, batch_of([b"x" * 1_000_000]))
    before = broker.rss
    readers = [RawClient(broker) for _ in range(10)]
    try:
        for reader in readers:
            reader.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            for _ in range(50):
                reader.send(
                    "fetch",
                    12,
                    max_wait=0,
                    min_bytes=1,
                    topics=[fetch_topic(heavy, fetch_partition(max_bytes=8_000_000))],
                )
        assert produce(client, heavy, batch_of([b"still served"])).base_offset == 8
        assert broker.rss < before + 64 * MEGABYTE
    finally:
        for reader in readers:
            reader.close()


def test_a_client_that_pipelines_without_end(broker: BrokerProcess, created: Topic) -> None:
    """The broker stops reading from it before it holds too much; TCP does the rest."""
    before = broker.rss
    frame = request_frame("metadata", 12, 1, "raw", {"topics": None})
    flood = (struct.pack(">i", len(frame)) + frame) * 1000
    with RawClient(broker) as client:
        client.socket.settimeout(2)
        with pytest.raises(TimeoutError):
            send_for_ever(client, flood)
        assert broker.rss < before + 64 * MEGABYTE


def test_half_open_connections(broker: BrokerProcess, created: Topic) -> None:
    """Clients that stop in the middle of a request and say nothing more."""
    frame = request_frame("produce", 12, 1, "raw", produce_body(created, batch_of([b"x" * 100])))
    whole = struct.pack(">i", len(frame)) + frame
    halves = [RawClient(broker) for _ in range(100)]
    try:
        for number, half in enumerate(halves):
            half.socket.sendall(whole[: 1 + number])
        settle(broker)
        # Any of them can still go on.
        for number, half in enumerate(halves):
            half.socket.sendall(whole[1 + number :])
            assert half.receive_frame()[:4] == b"\x00\x00\x00\x01"
    finally:
        for half in halves:
            half.close()


def test_thousands_of_idle_connections(broker: BrokerProcess, created: Topic) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = IDLE_CONNECTIONS + 500
    if hard != resource.RLIM_INFINITY and hard < wanted:
        unmet(f"{wanted} open files are more than this machine allows ({hard})")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    before = broker.rss
    crowd = [RawClient(broker) for _ in range(IDLE_CONNECTIONS)]
    try:
        for client in crowd[::100]:
            assert client.call("metadata", 12, topics=[]).brokers
        produce(crowd[0], created, batch_of([b"in the crowd"]))
        assert values_in(fetch(crowd[-1], created).records) == [(0, b"in the crowd")]
        assert broker.rss < before + 48 * MEGABYTE
    finally:
        for client in crowd:
            client.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_abrupt_resets(broker: BrokerProcess, created: Topic) -> None:
    """RST instead of FIN, with requests under way; so common that it is not worth a line."""
    lines = len(broker.output)
    for _ in range(200):
        client = RawClient(broker)
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.send("produce", 12, **produce_body(created, batch_of([b"x"])))
        client.send(
            "fetch",
            12,
            max_wait=5000,
            min_bytes=1 << 30,
            topics=[fetch_topic(created, fetch_partition())],
        )
        client.close()
    settle(broker)
    assert broker.output[lines:] == []


def the_line_with(reason: str, broker: BrokerProcess) -> str:
    """The first line that gives this reason; the same one is told a few times a minute at most."""
    assert broker.says(reason), broker.text
    return next(line for line in broker.output if reason in line)


def settle(broker: BrokerProcess) -> None:
    """Return when the broker has seen all that was sent before: it serves in turns."""
    with RawClient(broker) as client:
        for _ in range(3):
            assert client.call("metadata", 12, topics=[]).brokers


def send_for_ever(client: RawClient, data: bytes) -> None:
    for _ in range(512 * MEGABYTE // len(data)):
        client.socket.sendall(data)


def drain(client: RawClient) -> None:
    try:
        while client.socket.recv(65536):
            pass
    except ConnectionError:
        pass  # a reset is one way of closing
