"""What a program does with a consumer in a group: seek, pause, commit in several ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import confluent_kafka
import pytest
from confluent_kafka import TopicPartition
from tests.integration.raw_groups import committed, fresh_group, quick_broker
from tests.integration.raw_requests import create_topic
from tests.waiting import HUNG_AFTER_S, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.broker_process import BrokerProcess
    from tests.integration.raw_client import RawClient

RECORDS = 100
BASE = 1_700_000_000_000

pytestmark = pytest.mark.parametrize("protocol", ["classic", "consumer"])


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    yield from quick_broker(tmp_path_factory)


@pytest.fixture
def group() -> str:
    return fresh_group()


@pytest.fixture
def filled(client: RawClient, broker: BrokerProcess, topic: str) -> str:
    """A topic of two partitions with fifty records each, ten milliseconds apart."""
    create_topic(client, topic, partitions=2)
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap_servers})
    for number in range(RECORDS):
        producer.produce(topic, str(number), partition=number % 2, timestamp=BASE + 10 * number)
    assert producer.flush(60) == 0
    return topic


class Consumer:
    """A consumer in a group, closed at the end."""

    def __init__(self, broker: BrokerProcess, group: str, protocol: str, **settings: Any) -> None:
        self.kafka = confluent_kafka.Consumer(
            {
                "bootstrap.servers": broker.bootstrap_servers,
                "group.id": group,
                "group.protocol": protocol,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                **{name.replace("_", "."): value for name, value in settings.items()},
            }
        )

    def __enter__(self) -> Consumer:
        return self

    def __exit__(self, *_: object) -> None:
        self.kafka.close()

    def read(self, count: int) -> list[confluent_kafka.Message]:
        found: list[confluent_kafka.Message] = []
        while len(found) < count:
            messages = self.kafka.consume(count - len(found), HUNG_AFTER_S)
            assert messages, f"only {len(found)} of {count} came"
            for message in messages:
                assert message.error() is None, message.error()
                found.append(message)
        return found


def test_commits_what_was_read(
    broker: BrokerProcess, client: RawClient, protocol: str, group: str, filled: str
) -> None:
    with Consumer(broker, group, protocol) as consumer:
        consumer.kafka.subscribe([filled])
        consumer.read(RECORDS)
        consumer.kafka.commit(asynchronous=False)
        places = [TopicPartition(filled, number) for number in range(2)]
        assert [one.offset for one in consumer.kafka.committed(places, 60)] == [50, 50]
    found = committed(client, group, None)
    assert {one.committed_leader_epoch for one in found.values()} == {0}
    with Consumer(broker, group, protocol) as consumer:
        consumer.kafka.subscribe([filled])
        producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap_servers})
        producer.produce(filled, "one more", partition=1)
        producer.flush(60)
        (message,) = consumer.read(1)
        assert (message.partition(), message.offset()) == (1, 50)


def test_commits_offsets_of_its_own_with_metadata(
    broker: BrokerProcess, client: RawClient, protocol: str, group: str, filled: str
) -> None:
    with Consumer(broker, group, protocol) as consumer:
        consumer.kafka.subscribe([filled])
        consumer.read(1)
        wanted = [TopicPartition(filled, 0, 17, "why seventeen"), TopicPartition(filled, 1, 3)]
        consumer.kafka.commit(offsets=wanted, asynchronous=False)
    found = committed(client, group, None)
    # confluent-kafka sends the zero at the end of C's strings along.
    told = {
        place: (one.committed_offset, one.metadata.rstrip("\0")) for place, one in found.items()
    }
    assert told == {(filled, 0): (17, "why seventeen"), (filled, 1): (3, "")}


def test_commits_by_itself(
    broker: BrokerProcess, client: RawClient, protocol: str, group: str, filled: str
) -> None:
    settings = {"enable_auto_commit": True, "auto_commit_interval_ms": 100}
    with Consumer(broker, group, protocol, **settings) as consumer:
        consumer.kafka.subscribe([filled])
        consumer.read(RECORDS)

        def offsets() -> list[int]:
            consumer.kafka.poll(0.01)
            found = committed(client, group, None)
            return [one.committed_offset for _, one in sorted(found.items())]

        wait_for(offsets, until=lambda found: found == [50, 50])


def test_seeks_in_what_it_was_assigned(
    broker: BrokerProcess, protocol: str, group: str, filled: str
) -> None:
    with Consumer(broker, group, protocol) as consumer:
        consumer.kafka.subscribe([filled])
        consumer.read(RECORDS)
        consumer.kafka.seek(TopicPartition(filled, 1, 40))
        assert [message.offset() for message in consumer.read(10)] == list(range(40, 50))


def test_pauses_a_partition(broker: BrokerProcess, protocol: str, group: str, filled: str) -> None:
    with Consumer(broker, group, protocol) as consumer:
        consumer.kafka.subscribe([filled])
        consumer.read(1)
        paused = TopicPartition(filled, 0)
        consumer.kafka.pause([paused])
        consumer.kafka.seek(TopicPartition(filled, 1, 0))
        wait_for(lambda: consumer.read(1)[0].offset(), until=lambda offset: offset == 49)
        consumer.kafka.seek(TopicPartition(filled, 1, 30))
        assert {message.partition() for message in consumer.read(20)} == {1}
        consumer.kafka.resume([paused])
        assert {message.partition() for message in consumer.read(1)} == {0}


def test_finds_offsets_by_time(
    broker: BrokerProcess, protocol: str, group: str, filled: str
) -> None:
    with Consumer(broker, group, protocol) as consumer:
        consumer.kafka.subscribe([filled])
        consumer.read(1)
        wanted = [TopicPartition(filled, number, BASE + 500) for number in range(2)]
        found = consumer.kafka.offsets_for_times(wanted, 60)
        assert [one.offset for one in found] == [25, 25]
        for place in found:
            consumer.kafka.seek(place)
        assert min(message.offset() for message in consumer.read(50)) == 25


def test_two_groups_read_on_their_own(
    broker: BrokerProcess, protocol: str, group: str, filled: str
) -> None:
    with (
        Consumer(broker, group, protocol) as one,
        Consumer(broker, f"{group}-b", protocol) as two,
    ):
        one.kafka.subscribe([filled])
        two.kafka.subscribe([filled])
        assert len(one.read(RECORDS)) == len(two.read(RECORDS)) == RECORDS
