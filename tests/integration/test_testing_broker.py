"""The broker that users put into their own tests, used as they would."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from headwater.broker.directory_lock import DirectoryInUse
from headwater.testing import Broker

if TYPE_CHECKING:
    from pathlib import Path

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
