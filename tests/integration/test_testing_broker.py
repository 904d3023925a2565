"""The broker that users put into their own tests, used as they would."""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

import headwater.testing.broker
from headwater.broker.metadata.directory_lock import DirectoryInUse
from headwater.testing import Broker

if TYPE_CHECKING:
    from pathlib import Path

HUNG_AFTER_S = 120.0

pytest_plugins = ["pytester"]


def produce(broker: Broker, topic: str, *values: str) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(30) == 0


def consume(broker: Broker, topic: str, count: int) -> list[str]:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "test"})
    consumer.assign([TopicPartition(topic, 0, 0)])
    try:
        messages = consumer.consume(count, 30)
        return [message.value().decode() for message in messages]
    finally:
        consumer.close()


def test_records_go_in_and_come_out() -> None:
    with Broker() as broker:
        broker.create_topic("readings")
        produce(broker, "readings", "1", "2", "3")
        assert consume(broker, "readings", 3) == ["1", "2", "3"]


def test_nothing_is_left_afterwards() -> None:
    with Broker() as broker:
        directory = broker.data_dir
        assert directory.is_dir()
    assert not directory.exists()
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith("headwater")]


def test_data_and_port_survive_a_restart() -> None:
    with Broker() as broker:
        broker.create_topic("readings")
        produce(broker, "readings", "before")
        port = broker.port
        broker.stop()
        broker.start()
        assert broker.port == port
        produce(broker, "readings", "after")
        assert consume(broker, "readings", 2) == ["before", "after"]


def test_two_brokers_run_side_by_side_but_not_in_one_directory(tmp_path: Path) -> None:
    with Broker(data_dir=tmp_path / "one") as one, Broker() as two:
        assert one.port != two.port
        produce(one, "t", "one")
        produce(two, "t", "two")
        assert consume(one, "t", 1) == ["one"]
        assert consume(two, "t", 1) == ["two"]
        with pytest.raises(DirectoryInUse, match="in use"):
            Broker(data_dir=tmp_path / "one").start()
    assert (tmp_path / "one").is_dir()


def test_one_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Where a broker reads who it is, it finds a pipe, and waits until something comes out of it.
    identity = tmp_path / "meta.properties"
    os.mkfifo(identity)
    monkeypatch.setattr(headwater.testing.broker, "_START_WITHIN_S", 0)
    broker = Broker(data_dir=tmp_path)
    with ThreadPoolExecutor(1, thread_name_prefix="starter") as pool:
        started = pool.submit(broker.start)
        with identity.open("w") as pipe:
            wait_until_in("starter", "join")
            pipe.write("version=1\ncluster.id=MkU3OEVBNTcwNTJENDM2Qg\nnode.id=1\n")
        with pytest.raises(TimeoutError):
            started.result(HUNG_AFTER_S)
    assert not [each for each in threading.enumerate() if each.name == "headwater-broker"]


def wait_until_in(thread_name: str, function: str) -> None:
    """Wait until a thread has called a function and not come back."""
    (ident,) = (each.ident for each in threading.enumerate() if each.name.startswith(thread_name))
    deadline = time.monotonic() + HUNG_AFTER_S
    while function not in [
        frame.name for frame in traceback.extract_stack(sys._current_frames()[ident or 0])
    ]:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_settings_are_kafkas() -> None:
    with Broker({"auto.create.topics.enable": "false", "num.partitions": "4"}) as broker:
        broker.create_topic("wide", partitions=2, config={"cleanup.policy": "compact"})
        with pytest.raises(KafkaException):
            broker.create_topic("bad", config={"retention.ms": "soon"})


def test_the_fixture_gives_each_test_a_fresh_broker(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        from confluent_kafka import Producer
        from confluent_kafka.admin import AdminClient

        def topics(broker):
            admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
            return sorted(admin.list_topics(timeout=30).topics)

        @pytest.mark.parametrize("name", ["first", "second"])
        def test_topics(kafka_broker, name):
            assert topics(kafka_broker) == []
            kafka_broker.create_topic(name)
            assert topics(kafka_broker) == [name]

        class TestSettings:
            @pytest.fixture
            def kafka_broker_properties(self):
                return {"max.connections": "0"}

            def test_are_overridden(self, kafka_broker):
                from confluent_kafka import KafkaException
                with pytest.raises(KafkaException):
                    AdminClient({"bootstrap.servers": kafka_broker.bootstrap_servers}
                        ).list_topics(timeout=1)
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=3)
