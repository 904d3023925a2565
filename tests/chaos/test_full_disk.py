"""No space, no files, no writing: clients get a retriable error, nothing acknowledged is lost,
and once there is room again appends go on without a restart."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import threading
import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import confluent_kafka
import psutil
import pytest
from kio.schema.errors import ErrorCode
from tests.chaos.reading import read_values
from tests.cli_command import Cli
from tests.conftest import unmet
from tests.integration.raw_client import RawClient
from tests.integration.raw_requests import Topic, create_topic, list_offset, produce
from tests.integration.record_batches import batch_of
from tests.integration.scrape import Metrics
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.broker_process import BrokerProcess
    from tests.conftest import StartBroker

pytestmark = pytest.mark.chaos

NO_SPACE = "No space left on device"


class Disk:
    """A small file system of its own that can be made larger, smaller and read-only."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self._mount(["-t", "tmpfs", "-o", "size=6m", "tmpfs"])

    def resize(self, size: str) -> None:
        self._mount(["-o", f"remount,size={size}"])

    def read_only(self) -> None:
        self._mount(["-o", "remount,ro"])

    def unmount(self) -> None:
        subprocess.run(["umount", str(self.path)], check=True, capture_output=True)

    def _mount(self, arguments: list[str]) -> None:
        command = ["mount", *arguments, str(self.path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            unmet(f"no small file system to fill: {done.stderr.strip()}")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    if os.geteuid() != 0:
        unmet("filling a disk needs root, to mount a small one")
    small = Disk(tmp_path / "disk")
    yield small
    small.unmount()


def fill(client: RawClient, topic: Topic, values: list[bytes], size: int) -> Any:
    """Produce until the broker refuses, entering what it took in `values`; the refusal."""
    for number in range(10_000):
        value = b"%d " % number + b"." * size
        answer = produce(client, topic, batch_of([value]))
        if answer.error_code is not ErrorCode.none:
            return answer
        assert answer.base_offset == len(values)
        values.append(value)
    raise AssertionError("the broker never refused")


def produce_requests(broker: BrokerProcess) -> float:
    """How many a broker with metrics has answered, whatever their version and its answer."""
    return Metrics(broker).sum("kafka_network_requestmetrics_requests_total", request="Produce")


def without_numbers(line: str) -> str:
    """A log line without its time, offsets and sizes: one for each cause."""
    return re.sub(r"\d+", "", line)


def assert_all_there(broker: BrokerProcess, topic: Topic, values: list[bytes]) -> None:
    assert read_values(broker, topic, 0) == list(enumerate(values))
    with RawClient(broker) as client:
        assert list_offset(client, topic, -1).offset == len(values)


@pytest.mark.parametrize("flush", ["fsync", "os"])
def test_a_full_disk(disk: Disk, start_broker: StartBroker, flush: str) -> None:
    broker = start_broker({"flush": flush}, data_dir=disk.path / "data")
    values: list[bytes] = []
    with RawClient(broker) as client:
        topic = create_topic(client, "full", configs={"internal.segment.bytes": "1000000"})
        refused = fill(client, topic, values, 50_000)
        again = {produce(client, topic, batch_of([b"x" * 50_000])).error_code for _ in range(50)}

    assert refused.error_code is ErrorCode.kafka_storage_error
    assert again == {ErrorCode.kafka_storage_error}
    assert len(values) > 50
    assert_all_there(broker, topic, values)
    assert broker.says(NO_SPACE)

    disk.resize("12m")
    with RawClient(broker) as client:
        refused = fill(client, topic, values, 50_000)
    assert refused.error_code is ErrorCode.kafka_storage_error
    assert len(values) > 150
    assert_all_there(broker, topic, values)

    disk.resize("64m")
    broker.restart()
    assert_all_there(broker, topic, values)
    with RawClient(broker) as client:
        assert produce(client, topic, batch_of([b"on"])).base_offset == len(values)


def test_producers_wait_for_space_by_themselves(disk: Disk, start_broker: StartBroker) -> None:
    """The error is retriable: an ordinary producer notices nothing but a delay.

    It tries many times a second, and the broker says so in one line for each cause and minute.
    """
    broker = start_broker({"headwater.metrics.port": "0"}, data_dir=disk.path / "data")
    values: list[bytes] = []
    with RawClient(broker) as client:
        topic = create_topic(client, "full")
        fill(client, topic, values, 100_000)
    answered = produce_requests(broker)
    started = time.monotonic()
    outcome: list[confluent_kafka.KafkaError | None] = []
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "acks": "all",
            "retry.backoff.ms": 20,
            "retry.backoff.max.ms": 20,
        }
    )
    late = b"late" * 30_000
    producer.produce(topic.name, late, partition=0, on_delivery=lambda e, _: outcome.append(e))

    def refused_while_waiting() -> float:
        assert producer.flush(0.01) == 1
        return produce_requests(broker) - answered

    wait_for(refused_while_waiting, until=lambda count: count >= 20)
    assert outcome == []
    minutes = 1 + (time.monotonic() - started) // 60
    assert broker.says(NO_SPACE)
    told = [line for line in broker.output if NO_SPACE in line]
    causes = Counter(without_numbers(line) for line in told)
    assert max(causes.values()) <= minutes, told
    assert len(causes) <= 2, told

    disk.resize("64m")

    assert producer.flush(60) == 0
    assert outcome == [None]
    assert_all_there(broker, topic, [*values, late])


def test_commands_say_that_the_broker_cannot_write(disk: Disk, start_broker: StartBroker) -> None:
    broker = start_broker(data_dir=disk.path / "data")
    with RawClient(broker) as client:
        topic = create_topic(client, "full")
        fill(client, topic, [], 100_000)
    refused = Cli(broker.bootstrap_servers)(
        *("produce", topic.name, "--property", "message.timeout.ms=5000"), stdin="x" * 200_000
    )
    assert refused.code == 1
    assert "KAFKA_STORAGE_ERROR" in refused.err
    assert "Is the broker's disk full?" in refused.err


def test_a_kill_on_a_full_disk(disk: Disk, start_broker: StartBroker) -> None:
    broker = start_broker(data_dir=disk.path / "data")
    values: list[bytes] = []
    with RawClient(broker) as client:
        topic = create_topic(client, "full")
        fill(client, topic, values, 100_000)
        fill(client, topic, values, 100)
    broker.kill()

    broker.start()  # there is still no space

    assert_all_there(broker, topic, values)
    disk.resize("64m")
    with RawClient(broker) as client:
        assert produce(client, topic, batch_of([b"on"])).base_offset == len(values)


def test_topics_on_a_full_disk(disk: Disk, start_broker: StartBroker) -> None:
    """Creating one fails cleanly, and the name is free afterwards."""
    broker = start_broker(data_dir=disk.path / "data")
    values: list[bytes] = []
    with RawClient(broker) as client:
        topic = create_topic(client, "full")
        fill(client, topic, values, 100_000)
        fill(client, topic, values, 100)
        body = {"topics": [{"name": "late", "num_partitions": 4, "replication_factor": 1}]}
        (refused,) = client.call("create_topics", 7, timeout=5000, **body).topics
        assert refused.error_code is ErrorCode.kafka_storage_error
        look = {"topics": [{"name": "late"}], "allow_auto_topic_creation": False}
        (unknown,) = client.call("metadata", 12, **look).topics
        assert unknown.error_code is ErrorCode.unknown_topic_or_partition

        disk.resize("64m")
        late = create_topic(client, "late", 4)
        assert produce(client, late, batch_of([b"x"]), partition=3).base_offset == 0
    assert_all_there(broker, topic, values)


def test_coordinators_on_a_full_disk(disk: Disk, start_broker: StartBroker) -> None:
    """Nobody can be found until their topics can be made; that is an answer, and one line."""
    broker = start_broker(data_dir=disk.path / "data")
    values: list[bytes] = []
    with RawClient(broker) as client:
        topic = create_topic(client, "full")
        fill(client, topic, values, 100_000)
        fill(client, topic, values, 100)
        lines = len(broker.output)
        for _ in range(20):
            for kind, name in enumerate(["__consumer_offsets", "__transaction_state"]):
                (found,) = client.call(
                    "find_coordinator", 4, key_type=kind, coordinator_keys=["me"]
                ).coordinators
                assert found.error_code is ErrorCode.coordinator_not_available
                assert "No space left" in found.error_message, name
        told = wait_for(
            lambda: [line for line in broker.output[lines:] if "can't create" in line],
            until=lambda told: len(told) >= 2,
        )
        assert len(told) == 2, told

        disk.resize("64m")
        for kind in (0, 1):
            (found,) = client.call(
                "find_coordinator", 4, key_type=kind, coordinator_keys=["me"]
            ).coordinators
            assert found.error_code is ErrorCode.none
    assert "Traceback" not in broker.text
    assert "never retrieved" not in broker.text


@pytest.mark.parametrize("flush", ["fsync", "os"])
def test_a_stop_on_a_full_disk(disk: Disk, start_broker: StartBroker, flush: str) -> None:
    """It ends, and says why it could not end well; what it does on the side is told in a line."""
    checkpoints = {"log.flush.offset.checkpoint.interval.ms": "200"}
    broker = start_broker({"flush": flush, **checkpoints}, data_dir=disk.path / "data")
    values: list[bytes] = []
    with RawClient(broker) as client:
        topic = create_topic(client, "full")
        fill(client, topic, values, 100_000)
    with (disk.path / "the rest").open("wb", buffering=0) as rest, suppress(OSError):
        while True:
            rest.write(bytes(4096))
    assert broker.says("Writing checkpoints in")
    with pytest.raises(AssertionError, match="ended with 1"):
        broker.stop()
    assert NO_SPACE in broker.text
    assert "Traceback" not in broker.text

    disk.resize("64m")
    broker.start()
    assert_all_there(broker, topic, values)


def test_a_read_only_disk_is_refused_in_one_line(disk: Disk, start_broker: StartBroker) -> None:
    data_dir = disk.path / "data"
    broker = start_broker(data_dir=data_dir)
    with RawClient(broker) as client:
        produce(client, create_topic(client, "kept"), batch_of([b"x"]))
    broker.stop()
    disk.read_only()
    lines = len(broker.output)

    with pytest.raises(AssertionError, match="did not come up"):
        broker.start()

    told = [line for line in broker.output[lines:] if "ERROR" in line or "Error" in line]
    assert len(told) == 1, told
    assert "Read-only file system" in told[0]
    assert "Traceback" not in broker.text


def limited(broker: BrokerProcess, what: int, soft: int) -> Callable[[], None]:
    """Limit a resource of the running broker; the returned function lifts that again."""
    before = resource.prlimit(broker.pid, what)
    resource.prlimit(broker.pid, what, (soft, before[1]))

    def lift() -> None:
        resource.prlimit(broker.pid, what, before)

    return lift


@pytest.mark.parametrize("flush", ["fsync", "os"])
def test_a_failing_write(start_broker: StartBroker, flush: str) -> None:
    """A write that fails half-way (here: at a limit on the size of files) is undone."""
    broker = start_broker({"flush": flush})
    values: list[bytes] = []
    with RawClient(broker) as client:
        topic = create_topic(client, "limited")
        lift = limited(broker, resource.RLIMIT_FSIZE, 300_000)
        refused = fill(client, topic, values, 7_000)
        lift()
        assert refused.error_code is ErrorCode.kafka_storage_error
        assert 30 < len(values) < 50
        assert_all_there(broker, topic, values)

        answer = produce(client, topic, batch_of([b"on"]))
        assert answer.base_offset == len(values)
        values.append(b"on")
    assert broker.says("File too large")
    broker.kill()
    broker.start()
    assert_all_there(broker, topic, values)


def test_no_more_files_for_a_new_segment(start_broker: StartBroker) -> None:
    broker = start_broker()
    values: list[bytes] = []
    with RawClient(broker) as client:
        topic = create_topic(client, "limited", configs={"internal.segment.bytes": "20000"})
        produce(client, topic, batch_of([b"first"]))
        values.append(b"first")
        lift = limited(broker, resource.RLIMIT_NOFILE, psutil.Process(broker.pid).num_fds())
        refused = fill(client, topic, values, 3_000)
        lift()
        assert refused.error_code is ErrorCode.kafka_storage_error
        assert len(values) > 3
        assert produce(client, topic, batch_of([b"on"])).base_offset == len(values)
        values.append(b"on")
    assert_all_there(broker, topic, values)
    assert broker.says("Too many open files")


def test_others_are_served_while_one_fails(start_broker: StartBroker) -> None:
    """A partition that cannot be written to does not hold up the rest."""
    broker = start_broker()
    with RawClient(broker) as client:
        large, small = create_topic(client, "large"), create_topic(client, "small")
        values: list[bytes] = []
        lift = limited(broker, resource.RLIMIT_FSIZE, 200_000)
        fill(client, large, values, 50_000)
        stop = threading.Event()
        refusals: list[ErrorCode] = []

        def insist() -> None:
            with RawClient(broker) as other:
                while not stop.is_set():
                    answer = produce(other, large, batch_of([b"x" * 100_000]))
                    refusals.append(answer.error_code)

        insisting = threading.Thread(target=insist)
        insisting.start()
        for number in range(100):
            assert produce(client, small, batch_of([b"y"])).base_offset == number
        stop.set()
        insisting.join()
        lift()
    assert set(refusals) == {ErrorCode.kafka_storage_error}
    assert_all_there(broker, large, values)
