"""A consumer in a process of its own: joins a group, reads, commits, and tells what it does.

Started with one JSON argument; prints a JSON line for every change of its assignment (all that it
has by then) and for every batch that it has read and committed. SIGTERM makes it leave its group.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from typing import Any

Partitions = list[list[Any]]

POLL_S = 0.05


class Stop:
    """Set by SIGTERM."""

    asked = False


def tell(event: str, **what: object) -> None:
    sys.stdout.write(json.dumps({"event": event, **what}) + "\n")
    sys.stdout.flush()


def read_with_confluent(job: dict[str, Any]) -> None:
    from confluent_kafka import Consumer

    settings: dict[str, Any] = {
        "bootstrap.servers": job["servers"],
        "group.id": job["group"],
        "group.protocol": job["protocol"],
        "client.id": job["name"],
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "topic.metadata.refresh.interval.ms": 500,
    }
    if job["instance"]:
        settings["group.instance.id"] = job["instance"]
    if job["protocol"] == "classic":
        settings |= {
            "session.timeout.ms": job["session_ms"],
            "heartbeat.interval.ms": 200,
            "partition.assignment.strategy": job["assignor"] or "range",
        }
    elif job["assignor"]:
        settings["group.remote.assignor"] = job["assignor"]
    consumer = Consumer(settings)
    held: set[tuple[str, int]] = set()

    def assigned(_: object, partitions: list[Any]) -> None:
        held.update((one.topic, one.partition) for one in partitions)
        tell("assigned", partitions=sorted(map(list, held)))

    def revoked(_: object, partitions: list[Any]) -> None:
        held.difference_update((one.topic, one.partition) for one in partitions)
        tell("revoked", partitions=sorted(map(list, held)))

    def lost(_: object, partitions: list[Any]) -> None:
        held.difference_update((one.topic, one.partition) for one in partitions)
        tell("lost", partitions=sorted(map(list, held)))

    consumer.subscribe(job["topics"], on_assign=assigned, on_revoke=revoked, on_lost=lost)
    while not Stop.asked:
        batch = [m for m in consumer.consume(100, POLL_S) if m.error() is None]
        if batch:
            consumer.commit(asynchronous=False)
            tell("read", records=[[m.topic(), m.partition(), m.offset()] for m in batch])
    consumer.close()


def read_with_kafka_python(job: dict[str, Any]) -> None:
    import kafka
    from kafka.coordinator.assignors.range import RangePartitionAssignor
    from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
    from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

    assignors = {
        None: RangePartitionAssignor,
        "range": RangePartitionAssignor,
        "roundrobin": RoundRobinPartitionAssignor,
        "sticky": StickyPartitionAssignor,
    }
    consumer = kafka.KafkaConsumer(
        bootstrap_servers=job["servers"],
        group_id=job["group"],
        client_id=job["name"],
        group_instance_id=job["instance"],
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=job["session_ms"],
        heartbeat_interval_ms=200,
        max_poll_interval_ms=10_000,
        partition_assignment_strategy=[assignors[job["assignor"]]],
        metadata_max_age_ms=500,
    )

    class Listener(kafka.ConsumerRebalanceListener):  # type: ignore[misc]
        def on_partitions_revoked(self, revoked: Any) -> None:
            tell("revoked", partitions=[])

        def on_partitions_assigned(self, assigned: Any) -> None:
            tell("assigned", partitions=sorted([one.topic, one.partition] for one in assigned))

    pattern = job["topics"][0] if job["topics"][0].startswith("^") else None
    topics = None if pattern else job["topics"]
    consumer.subscribe(topics=topics, pattern=pattern, listener=Listener())
    while not Stop.asked:
        # A rebalance that outlasts the poll in which it began is lost on kafka-python 3.0: it gets
        # its assignment from the broker, and never takes it. So a poll lasts longer than any.
        batches = consumer.poll(timeout_ms=5000)
        records = [[r.topic, r.partition, r.offset] for batch in batches.values() for r in batch]
        if records:
            consumer.commit()
            tell("read", records=records)
    consumer.close()


def read_with_aiokafka(job: dict[str, Any]) -> None:
    asyncio.run(_read_with_aiokafka(job))


async def _read_with_aiokafka(job: dict[str, Any]) -> None:
    import aiokafka
    from aiokafka.abc import ConsumerRebalanceListener
    from aiokafka.coordinator.assignors.range import RangePartitionAssignor
    from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
    from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

    assignors = {
        None: RangePartitionAssignor,
        "range": RangePartitionAssignor,
        "roundrobin": RoundRobinPartitionAssignor,
        "sticky": StickyPartitionAssignor,
    }

    class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
        def on_partitions_revoked(self, revoked: Any) -> None:
            tell("revoked", partitions=[])

        def on_partitions_assigned(self, assigned: Any) -> None:
            tell("assigned", partitions=sorted([one.topic, one.partition] for one in assigned))

    consumer = aiokafka.AIOKafkaConsumer(
        bootstrap_servers=job["servers"],
        group_id=job["group"],
        client_id=job["name"],
        group_instance_id=job["instance"],
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=job["session_ms"],
        heartbeat_interval_ms=200,
        rebalance_timeout_ms=10_000,
        partition_assignment_strategy=[assignors[job["assignor"]]],
        metadata_max_age_ms=500,
    )
    pattern = job["topics"][0] if job["topics"][0].startswith("^") else None
    consumer.subscribe(
        topics=() if pattern else job["topics"], pattern=pattern, listener=Listener()
    )
    await consumer.start()
    try:
        while not Stop.asked:
            batches = await consumer.getmany(timeout_ms=POLL_S * 1000)
            records = [
                [r.topic, r.partition, r.offset] for batch in batches.values() for r in batch
            ]
            if records:
                await consumer.commit()
                tell("read", records=records)
    finally:
        await consumer.stop()


READERS = {
    "confluent": read_with_confluent,
    "kafka-python": read_with_kafka_python,
    "aiokafka": read_with_aiokafka,
}


def stop(*_: object) -> None:
    Stop.asked = True


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, stop)
    job = json.loads(sys.argv[1])
    READERS[job["client"]](job)
