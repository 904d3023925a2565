"""A topic whose replicas a lesson watches: who leads, who is in sync, whose disk has which record.

Each broker is asked itself, since two of them may disagree, and that is what the lessons are about.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from confluent_kafka import Consumer, KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from kio.schema.errors import ErrorCode
from tests.cluster.brokers import WITHIN_S, ask, brokers, running_brokers
from tests.cluster.writer import Writer
from tests.integration.raw_client import ConnectionClosedError
from tests.integration.raw_requests import Topic, fetch, produce_body
from tests.integration.record_batches import Message, batch_of, values_in
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Set

    from headwater.cluster import ClusterControl

NO_LEADER = -1
EVERYWHERE = frozenset({1, 2, 3})

_ANSWER_WITHIN_MS = 2000
_PREFERRED, _UNCLEAN = 0, 1


class Partition(NamedTuple):
    """What a broker knows of a partition."""

    leader: int
    in_sync: frozenset[int]


class ReplicatedTopic:
    """A topic of a three-broker cluster; a partition's first replica is its preferred leader."""

    def __init__(
        self,
        cluster: ClusterControl,
        name: str,
        replicas: Sequence[Sequence[int]] = ((1, 2, 3),),
        **config: str,
    ) -> None:
        self.name = name
        self._cluster = cluster
        self._partitions = len(replicas)
        new = NewTopic(
            name,
            len(replicas),
            replica_assignment=[list(each) for each in replicas],
            config={key.replace("_", "."): value for key, value in config.items()},
        )
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
        admin.create_topics([new], request_timeout=WITHIN_S)[name].result()
        for partition, preferred in enumerate(replicas):
            self.wait_for(leader=preferred[0], in_sync=set(preferred), partition=partition)

    def seen_by(self, broker: int, partition: int = 0) -> Partition | None:
        """What a broker says of a partition; None if it does not know the topic, or is silent."""
        try:
            with ask(self._cluster, broker) as client:
                answer = client.call("metadata", 12, topics=[{"name": self.name}])
        except (OSError, ConnectionClosedError):
            return None
        for found in answer.topics[0].partitions:
            if found.partition_index == partition:
                return Partition(found.leader_id, frozenset(found.isr_nodes))
        return None

    def leaders(self, broker: int) -> list[int]:
        """Who leads each partition, as a broker knows it."""
        seen = [self.seen_by(broker, partition) for partition in range(self._partitions)]
        return [NO_LEADER if each is None else each.leader for each in seen]

    def wait_for(
        self,
        *,
        leader: int | None = None,
        in_sync: Set[int] | None = None,
        partition: int = 0,
        seen_by: Iterable[int] | None = None,
    ) -> None:
        """Return when brokers, all that run by default, know this leader and these in sync."""

        def holds(broker: int) -> bool:
            seen = self.seen_by(broker, partition)
            return (
                seen is not None
                and (leader is None or seen.leader == leader)
                and (in_sync is None or seen.in_sync == in_sync)
            )

        def views() -> str:
            found = {node.id: self.seen_by(node.id, partition) for node in brokers(self._cluster)}
            return f"leader {leader} and in sync {in_sync} were wanted; brokers say {found}"

        asked = list(running_brokers(self._cluster) if seen_by is None else seen_by)
        wait_for(lambda: all(map(holds, asked)), views)

    def elect_preferred_leaders(self) -> None:
        """Give each partition back to its first replica."""
        self._elect(_PREFERRED)

    def elect_uncleanly(self) -> None:
        """Give each partition without a leader to any replica that is there."""
        self._elect(_UNCLEAN)

    def writer(self, acks: str, **settings: object) -> Writer:
        """A producer for partition 0, connected already, that tries each record once."""
        return Writer(self._cluster.bootstrap_servers, self.name, acks, settings)

    def write(self, value: str, acks: str = "all") -> None:
        """Write a record once; raises KafkaException with the leader's answer if it refuses."""
        self.writer(acks).write(value)

    def read(self, partition: int = 0) -> list[str]:
        """All that a consumer gets."""
        consumer = Consumer(
            {
                "bootstrap.servers": self._cluster.bootstrap_servers,
                "group.id": "not-joined",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "log_level": 0,
            }
        )
        consumer.assign([TopicPartition(self.name, partition, 0)])
        found = []
        try:
            while (message := consumer.poll(WITHIN_S)) is not None:
                if message.error() is None:
                    found.append(message.value().decode())
                elif message.error().code() == KafkaError._PARTITION_EOF:
                    return found
        finally:
            consumer.close()
        raise AssertionError(f"{self.name} could not be read to its end; so far {found}")

    def write_at(self, broker: int, value: str, acks: int = -1) -> ErrorCode:
        """Hand a record to this very broker, whoever leads; what it answers."""
        # Of today, or else retention deletes it as soon as it looks.
        record = Message(value.encode(), timestamp=int(time.time() * 1000))
        body = produce_body(self._topic(broker), batch_of([record]), acks=acks)
        with ask(self._cluster, broker) as client:
            answer = client.call("produce", 12, **{**body, "timeout": _ANSWER_WITHIN_MS})
        code: ErrorCode = answer.responses[0].partition_responses[0].error_code
        return code

    def read_at(self, broker: int) -> list[str]:
        """All that this very broker hands to a consumer."""
        with ask(self._cluster, broker) as client:
            answer = fetch(client, self._topic(broker))
        assert answer.error_code is ErrorCode.none, answer.error_code
        return [(value or b"").decode() for _, value in values_in(answer.records)]

    def copies(self, value: str, partition: int = 0) -> set[int]:
        """The brokers that have a record on their disks, be it readable or not."""
        found = set()
        for node in brokers(self._cluster):
            log = self._cluster.directory.of(node).data / f"{self.name}-{partition}"
            if any(value.encode() in segment.read_bytes() for segment in log.glob("*.log")):
                found.add(node.id)
        return found

    def _elect(self, kind: int) -> None:
        # By hand: confluent-kafka's own call (2.16) fails on its keyword arguments.
        with ask(self._cluster, running_brokers(self._cluster)[0]) as client:
            answer = client.call(
                "elect_leaders",
                2,
                election_type=kind,
                topic_partitions=[
                    {"topic": self.name, "partitions": list(range(self._partitions))}
                ],
                timeout=30_000,
            )
        assert answer.error_code is ErrorCode.none, answer

    def _topic(self, broker: int) -> Topic:
        with ask(self._cluster, broker) as client:
            (found,) = client.call("metadata", 12, topics=[{"name": self.name}]).topics
        return Topic(self.name, found.topic_id)
