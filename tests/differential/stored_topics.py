"""Topics with a bit of everything in them, for brokers that are restarted or swap their files."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from tests.differential.observation import plain
from tests.differential.programs.compaction import everything
from tests.differential.programs.transactions import end, reader
from tests.integration.raw_groups import commit, committed
from tests.integration.raw_requests import Topic, create_topic, list_offset, produce, wait_until_led
from tests.integration.raw_transactions import RawProducer
from tests.integration.record_batches import CODECS, Message, batch_of
from tests.waiting import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from tests.differential.engine import Engine

WHEN = 1_700_000_000_000
PARTITIONS = 2
SETTINGS = {"segment.bytes": "1048576", "index.interval.bytes": "100"}


def write(engine: Engine, name: str) -> Topic:
    """Batches of every codec, over several segments, and transactions of both ends."""
    with engine.raw() as client:
        topic = create_topic(client, name, PARTITIONS, SETTINGS)
        for number, codec in enumerate(sorted(CODECS)):
            messages = [
                Message(b"value %d" % n, b"key %d" % n, WHEN + 100 * number + n, [("h", b"x")])
                for n in range(5)
            ]
            for partition in range(PARTITIONS):
                produce(client, topic, batch_of(messages, codec), partition=partition)
        for _ in range(3):
            large = Message(b"x" * 600_000, b"large", WHEN + 1000)
            produce(client, topic, batch_of([large]))
        producer = RawProducer(client, f"{name}-producer")
        producer.init()
        for is_kept, value in ((True, b"kept"), (False, b"dropped"), (True, b"kept too")):
            producer.send(topic, value)
            end(producer, committed=is_kept)
        commit(client, f"{name}-group", {(name, 0): 7, (name, 1): 3}, metadata="a note")
    return topic


def read(engine: Engine, topic: Topic) -> Any:
    """All that a client can see of such a topic; times of transactions are the time of day."""
    with engine.raw() as client:
        for partition in range(PARTITIONS):
            wait_until_led(client, topic, partition)
        records = [
            [*record[:3], min(record[3], WHEN + 9999), record[4]]
            for record in everything(client, topic)
        ]
        return {
            "records": records,
            "other partition": list_offset(client, topic, -1, partition=1).offset,
            "to readers of committed records": reader(client, topic, 25),
            "by time": [
                plain(list_offset(client, topic, when)) for when in (WHEN + 101, WHEN + 1000)
            ],
        }


def group_of(engine: Engine, topic: Topic) -> Any:
    """What the group of such a topic has committed."""
    with engine.raw() as client:
        group = f"{topic.name}-group"
        return wait_for(lambda: _known(committed(client, group, {topic.name: (0, 1)})))


def copy_partitions(source: Path, target: Path, name: str, *, keep_ids: bool) -> None:
    """Copy a topic's directories; into one that knows the topic, under the id that it has there."""
    for partition in range(PARTITIONS):
        directory = f"{name}-{partition}"
        identity = target / directory / "partition.metadata"
        known = identity.read_bytes() if keep_ids else None
        if known is not None:
            shutil.rmtree(target / directory)
        shutil.copytree(source / directory, target / directory)
        if known is not None:
            identity.write_bytes(known)


def _known(found: Any) -> Any:
    return plain(found) if isinstance(found, dict) else None
