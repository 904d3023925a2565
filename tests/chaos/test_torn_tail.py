"""A damaged end of a log: the journal restores it, or it is cut at the first bad batch."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from kio.schema.errors import ErrorCode
from tests.chaos.reading import read_values
from tests.chaos.seeds import seeds
from tests.effort import often
from tests.integration.raw_client import RawClient
from tests.integration.raw_requests import Topic, create_topic, list_offset, produce
from tests.integration.record_batches import CODECS, Message, batch_of

if TYPE_CHECKING:
    from tests.conftest import StartBroker

pytestmark = pytest.mark.chaos

ROUNDS = often(2, in_soak=8)
LENGTH_AT, CHECKED_FROM = 8, 16  # offset and leader epoch are not under the checksum


class Batch(NamedTuple):
    """Where a batch lies in its file."""

    position: int
    size: int
    next_offset: int


def batches_in(segment: Path) -> list[Batch]:
    """Walk a segment file by nothing but the lengths in it."""
    data = segment.read_bytes()
    found: list[Batch] = []
    position = 0
    while position < len(data):
        base = int.from_bytes(data[position : position + 8], "big")
        size = 12 + int.from_bytes(data[position + 8 : position + 12], "big")
        last_delta = int.from_bytes(data[position + 23 : position + 27], "big")
        found.append(Batch(position, size, base + last_delta + 1))
        position += size
    assert position == len(data)
    return found


def cut(path: Path, victim: Batch, chance: random.Random) -> None:
    os.truncate(path, victim.position + chance.randrange(victim.size))


def flip_a_bit(path: Path, victim: Batch, chance: random.Random) -> None:
    at = chance.choice(
        [chance.randrange(CHECKED_FROM, victim.size), chance.randrange(LENGTH_AT, 12)]
    )
    patch(path, victim.position + at, lambda old: bytes([old[0] ^ (1 << chance.randrange(8))]), 1)


def zero_the_rest(path: Path, victim: Batch, chance: random.Random) -> None:
    start = victim.position + chance.randrange(victim.size - 1)
    patch(path, start, lambda old: bytes(len(old)), path.stat().st_size - start)


def garble_the_rest(path: Path, victim: Batch, chance: random.Random) -> None:
    start = victim.position + chance.randrange(8, victim.size - 1)
    patch(path, start, lambda old: chance.randbytes(len(old)), path.stat().st_size - start)


def patch(path: Path, at: int, change: Callable[[bytes], bytes], size: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        old = file.read(size)
        file.seek(at)
        file.write(change(old))


def append_garbage(path: Path, _: Batch, chance: random.Random) -> None:
    with path.open("ab") as file:
        file.write(chance.randbytes(chance.randrange(1, 5000)))


def append_zeros(path: Path, _: Batch, chance: random.Random) -> None:
    with path.open("ab") as file:
        file.write(bytes(chance.randrange(1, 100_000)))


def append_half_a_batch(path: Path, _: Batch, chance: random.Random) -> None:
    whole = batch_of([b"half"] * 20)
    with path.open("ab") as file:
        file.write(whole[: chance.randrange(1, len(whole))])


def append_an_old_batch(path: Path, victim: Batch, _: random.Random) -> None:
    """Whole and valid, but its offsets were there before: a block that the disk mixed up."""
    data = path.read_bytes()[victim.position : victim.position + victim.size]
    with path.open("ab") as file:
        file.write(data)


def name_of(damage: object) -> str:
    return str(getattr(damage, "__name__", damage))


Damage = Callable[[Path, Batch, random.Random], None]
HURTS_A_BATCH: list[Damage] = [cut, flip_a_bit, zero_the_rest, garble_the_rest]
FOLLOWS_THE_LAST: list[Damage] = [
    append_garbage,
    append_zeros,
    append_half_a_batch,
    append_an_old_batch,
]


@pytest.mark.parametrize("seed", seeds(1))
@pytest.mark.parametrize("damage", HURTS_A_BATCH + FOLLOWS_THE_LAST, ids=name_of)
def test_the_log_ends_before_the_first_bad_batch(
    start_broker: StartBroker, damage: Damage, seed: int
) -> None:
    chance = random.Random(f"{seed} {name_of(damage)}")
    broker = start_broker({"headwater.journal.bytes": "0"})
    with RawClient(broker) as client:
        topic = create_topic(client, "torn", configs={"internal.segment.bytes": "60000"})
    expected: list[bytes] = []
    for _ in range(ROUNDS):
        with RawClient(broker) as client:
            for _ in range(chance.randrange(5, 30)):
                values = [chance.randbytes(chance.randrange(300)) for _ in range(10)]
                append(client, topic, values, chance, len(expected))
                expected += values
        broker.kill()
        segment = max((broker.data_dir / "torn-0").glob("*.log"))
        batches = batches_in(segment)
        if not batches:
            continue  # killed just after a roll
        victim = chance.choice(batches)
        damage(segment, victim, chance)
        if damage in HURTS_A_BATCH:
            del expected[victim.next_offset - 10 :]

        broker.start()

        assert read_values(broker, topic, 0) == list(enumerate(expected))
        with RawClient(broker) as client:
            assert list_offset(client, topic, -1).offset == len(expected)
            values = [b"after the damage"] * 10
            append(client, topic, values, chance, len(expected))
            expected += values
    broker.restart()
    assert read_values(broker, topic, 0) == list(enumerate(expected))
    assert "Traceback" not in broker.text


@pytest.mark.parametrize("damage", HURTS_A_BATCH, ids=name_of)
def test_the_journal_restores_what_was_acknowledged(
    start_broker: StartBroker, damage: Damage
) -> None:
    chance = random.Random(name_of(damage))
    broker = start_broker()
    with RawClient(broker) as client:
        topic = create_topic(client, "torn", configs={"internal.segment.bytes": "60000"})
        expected: list[bytes] = []
        for _ in range(20):
            values = [chance.randbytes(chance.randrange(300)) for _ in range(10)]
            append(client, topic, values, chance, len(expected))
            expected += values
    broker.kill()
    segment = max((broker.data_dir / "torn-0").glob("*.log"), key=lambda path: path.stat().st_size)
    damage(segment, chance.choice(batches_in(segment)), chance)

    broker.start()

    assert read_values(broker, topic, 0) == list(enumerate(expected))
    assert "from the journal" in broker.text
    broker.restart()
    assert read_values(broker, topic, 0) == list(enumerate(expected))


def append(
    client: RawClient, topic: Topic, values: list[bytes], chance: random.Random, at: int
) -> None:
    answer = produce(client, topic, batch_of(values, chance.choice(list(CODECS))))
    assert answer.error_code is ErrorCode.none
    assert answer.base_offset == at


@pytest.mark.parametrize(
    ("how", "fault"),
    [
        ("stopped", "gone"),
        ("stopped", "emptied"),
        ("stopped", "odd size"),
        ("killed", "gone"),
        ("killed", "emptied"),
        ("killed", "odd size"),
        ("killed", "noise"),  # a clean start trusts an index that looks whole, as Kafka's does
    ],
)
def test_damaged_indexes_are_rebuilt(start_broker: StartBroker, how: str, fault: str) -> None:
    """An index only speeds reading up; whatever becomes of it, reads stay right."""
    chance = random.Random(f"{how} {fault}")
    broker = start_broker()
    sent = [Message(b"%d" % n * 40, timestamp=1_000_000 + n) for n in range(2000)]
    with RawClient(broker) as client:
        configs = {"internal.segment.bytes": "50000", "index.interval.bytes": "500"}
        topic = create_topic(client, "index", configs=configs)
        for start in range(0, len(sent), 20):
            produce(client, topic, batch_of(sent[start : start + 20]))
    broker.stop() if how == "stopped" else broker.kill()
    indexes = list((broker.data_dir / "index-0").glob("*index"))
    assert len(indexes) > 4
    for index in indexes:
        if fault == "gone":
            index.unlink()
        elif fault == "emptied":
            index.write_bytes(b"")
        elif fault == "odd size":
            os.truncate(index, max(0, index.stat().st_size - chance.randrange(1, 8)))
        else:
            index.write_bytes(chance.randbytes(index.stat().st_size))

    broker.start()

    for offset in [0, len(sent) - 1, *chance.sample(range(len(sent)), 10)]:
        found = read_values(broker, topic, 0, offset)
        assert found == [(n, sent[n].value) for n in range(offset, len(sent))]
        with RawClient(broker) as client:
            assert list_offset(client, topic, 1_000_000 + offset).offset == offset
