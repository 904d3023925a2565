"""Compaction: what is left of a log when only the last value of each key counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.differential.observation import plain, records
from tests.differential.program import program
from tests.integration.raw_requests import Topic, create_topic, fetch, list_offset, produce
from tests.integration.raw_transactions import RawProducer
from tests.integration.record_batches import Message, batch_of
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.differential.engine import Engine
    from tests.integration.raw_client import RawClient

WHEN = 1_700_000_000_000
EAGER = {
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0.0",
    "segment.ms": "100",
    "max.compaction.lag.ms": "100",
}


def compacted(client: RawClient, name: str, **configs: str) -> Topic:
    own = {key.replace("_", "."): value for key, value in configs.items()}
    return create_topic(client, name, configs={**EAGER, **own})


def write(
    client: RawClient, topic: Topic, *pairs: tuple[bytes, bytes | None], codec: str = "none"
) -> None:
    """One batch, a second later than all before it: so it starts a new segment."""
    later = WHEN + 1000 * list_offset(client, topic, -1).offset
    messages = [Message(value, key, later) for key, value in pairs]
    assert produce(client, topic, batch_of(messages, codec)).error_code.name == "none"


def everything(client: RawClient, topic: Topic) -> list[Any]:
    """All records from the beginning on, fetch by fetch."""
    found: list[Any] = []
    end = list_offset(client, topic, -1).offset
    offset = list_offset(client, topic, -2).offset
    while offset < end:
        batches = fetch(client, topic, offset).records
        new = [record for record in records(batches) if record[0] >= offset]
        found += new
        offset = new[-1][0] + 1 if new else end
    return found


def settled(client: RawClient, topic: Topic, keys: Sequence[bytes]) -> Any:
    """The log when each of these keys is in it once, and what follows is still as written.

    The segment that is written to is never cleaned, so each program ends with a record that
    closes the one before; the last record is left out.
    """

    def clean() -> Any:
        write(client, topic, (b"closes", b"the segment"))
        found = [record for record in everything(client, topic) if record[1] != b"closes"]
        return found if sorted(record[1] for record in found) == sorted(keys) else None

    return wait_for(clean)


@program
def compaction_keeps_the_last_value(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = compacted(client, name)
        for number in range(5):
            write(client, topic, (b"a", b"a%d" % number), (b"b", b"b%d" % number))
        write(client, topic, (b"c", b"once"))
        return settled(client, topic, [b"a", b"b", b"c"])


@program
def compaction_inside_compressed_batches(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = compacted(client, name)
        for codec in ("gzip", "snappy", "lz4", "zstd"):
            write(client, topic, (b"a", codec.encode()), (codec.encode(), b"own"), codec=codec)
        return settled(client, topic, [b"a", b"gzip", b"snappy", b"lz4", b"zstd"])


@program
def compaction_drops_tombstones_in_time(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = compacted(client, name, delete_retention_ms="0")
        write(client, topic, (b"a", b"1"), (b"b", b"1"))
        write(client, topic, (b"a", None))
        return settled(client, topic, [b"b"])


@program
def compaction_keeps_tombstones_for_a_while(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = compacted(client, name, delete_retention_ms="3600000")
        write(client, topic, (b"a", b"1"), (b"b", b"1"))
        write(client, topic, (b"a", None))
        return settled(client, topic, [b"a", b"b"])


@program
def compaction_keeps_offsets(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = compacted(client, name)
        for number in range(4):
            write(client, topic, (b"a", b"%d" % number))
        write(client, topic, (b"b", b"end"))
        found = settled(client, topic, [b"a", b"b"])
        return (
            found,
            [
                [record[:2] for record in records(fetch(client, topic, offset).records)][:1]
                for offset in range(4)
            ],
            plain(list_offset(client, topic, -2)),
        )


@program
def compaction_needs_keys_in_transactions_too(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = compacted(client, name)
        write(client, topic, (b"a", b"plain"))
        producer = RawProducer(client, f"{name}-id")
        producer.init()
        answer = producer.send(topic, b"x")
        return plain(answer.error_code), len(answer.record_errors)


@program
def compaction_and_deletion_together(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = compacted(client, name, cleanup_policy="compact,delete", retention_ms="-1")
        for number in range(3):
            write(client, topic, (b"a", b"%d" % number), (b"b%d" % number, b"x"))
        return settled(client, topic, [b"a", b"b0", b"b1", b"b2"])
