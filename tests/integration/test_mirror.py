"""`headwater mirror`: from our broker to Apache Kafka, killed in between; the page's commands."""

from __future__ import annotations

import re
import shlex
import sys
from typing import TYPE_CHECKING

import psutil
import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from tests.cli_command import Cli
from tests.conftest import unmet
from tests.docs_page import ROOT, blocks, commands
from tests.kafka_process import KafkaProcess
from tests.server_process import ServerProcess
from tests.waiting import wait_for

from headwater.cluster.kafka import require
from headwater.java.artifacts import ArtifactError
from headwater.java.runtime import JavaNotFound

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.broker_process import BrokerProcess

PAGE = ROOT / "docs/mirror.md"
PARTITIONS = 3
Record = tuple[int, bytes, bytes, int, tuple[tuple[str, bytes], ...]]


class MirrorProcess(ServerProcess):
    """One `headwater mirror`."""

    name = "mirror"
    ready = re.compile(r"MirrorMaker copies")
    ready_within_s = 180.0

    def __init__(self, arguments: Sequence[str], directory: Path) -> None:
        super().__init__()
        self.arguments = arguments
        self.directory = directory

    def command_line(self) -> list[str]:
        return [sys.executable, "-m", "headwater", "mirror", *self.arguments]

    def listens(self, said: re.Match[str]) -> None:
        """Nobody asks it anything."""

    @property
    def java(self) -> psutil.Process:
        (found,) = (
            each for each in psutil.Process(self.pid).children() if each.name().startswith("java")
        )
        return found

    def has_copied_all(self) -> bool:
        return self.says("nothing behind", within_s=180.0)


@pytest.fixture
def kafka(tmp_path: Path) -> Iterator[KafkaProcess]:
    try:
        require()
    except (JavaNotFound, ArtifactError) as lacking:
        unmet(str(lacking))
    node = KafkaProcess(tmp_path / "kafka")
    node.start()
    yield node
    node.stop()


def write(servers: str, topic: str, numbers: range) -> None:
    producer = Producer({"bootstrap.servers": servers, "partitioner": "murmur2_random"})
    for number in numbers:
        producer.produce(
            topic, f"v{number}", f"k{number}", headers={"n": str(number)}, timestamp=1_000 + number
        )
    assert producer.flush(60) == 0


def read(servers: str, topic: str) -> set[Record]:
    """Read all that is there; a record that was copied twice counts once."""
    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": "reader", "enable.partition.eof": True}
    )
    consumer.assign([TopicPartition(topic, each, OFFSET_BEGINNING) for each in range(PARTITIONS)])
    found: set[Record] = set()
    ended = 0
    while ended < PARTITIONS:
        for message in consumer.consume(500, 1.0):
            if message.error() is not None:
                ended += 1
                continue
            found.add(
                (
                    message.partition(), message.key(), message.value(), message.timestamp()[1],
                    tuple(message.headers() or ()),
                )
            )  # fmt: skip
    consumer.close()
    return found


def offsets(servers: str, group: str, topic: str) -> list[int]:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": group})
    places = [TopicPartition(topic, each) for each in range(PARTITIONS)]
    found = [each.offset for each in consumer.committed(places, timeout=60)]
    consumer.close()
    return found


def test_topics_and_groups_are_in_apache_kafka_and_stay_copied(
    broker: BrokerProcess, topic: str, kafka: KafkaProcess, tmp_path: Path
) -> None:
    ours, theirs = broker.bootstrap_servers, kafka.bootstrap_servers
    own = Cli(ours)
    own.ok("topics", "create", topic, "--partitions", PARTITIONS, "--config", "retention.ms=-1")
    write(ours, topic, range(100))
    group = f"{topic}-readers"
    own.ok("consume", topic, "--group", group, "--from-beginning", "--max-messages", 40)
    first, second = (
        shlex.split(line)[2:]
        for line, _ in commands(PAGE)
        if shlex.split(line)[:2] == ["headwater", "mirror"]
    )
    only = ("--topics", topic, "--groups", group)
    places = {"localhost:9092": ours, "kafka:9092": theirs}
    mirror = MirrorProcess([*(places.get(each, each) for each in first), *only], tmp_path)
    try:
        mirror.start()
        assert mirror.has_copied_all(), mirror.text
        assert read(theirs, topic) == read(ours, topic)
        settings = Cli(theirs).ok("configs", "describe", "--topic", topic)
        assert "retention.ms" in settings
        committed = offsets(ours, group, topic)
        translated = wait_for(
            lambda: offsets(theirs, group, topic),
            lambda: mirror.text,
            until=lambda found: any(each > 0 for each in found),
        )
        assert all(there <= here for here, there in zip(committed, translated, strict=True))

        java = mirror.java
        mirror.kill()
        java.wait(60)
        write(ours, topic, range(100, 200))
        mirror.start()
        wait_for(lambda: read(theirs, topic) == read(ours, topic), lambda: mirror.text)
        assert len(read(theirs, topic)) == 200
    finally:
        if mirror.running:
            mirror.stop()

    (text,) = blocks(PAGE, "properties")
    for name, address in places.items():
        text = text.replace(name, address)
    (tmp_path / "mm2.properties").write_text(text.replace("orders", topic))
    assert second == ["mm2.properties"]
    from_file = MirrorProcess([str(tmp_path / "mm2.properties")], tmp_path).start()
    try:
        assert from_file.says("copies plant->office")
        wait_for(
            lambda: f"plant.{topic}" in Cli(theirs).ok("topics", "list").splitlines(),
            lambda: from_file.text,
        )
        from_file.java.kill()
        assert from_file.says("MirrorMaker ended by itself: SIGKILL")
        wait_for(lambda: not from_file.running)
    finally:
        if from_file.running:
            from_file.stop()


def test_an_address_where_nobody_is_is_told_at_once(broker: BrokerProcess) -> None:
    finished = Cli(broker.bootstrap_servers)(
        "mirror", "--from", broker.bootstrap_servers, "--to", "127.0.0.1:1"
    )
    assert finished.code == 1
    assert "127.0.0.1:1" in finished.err
    assert "MirrorMaker" not in finished.err
