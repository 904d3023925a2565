"""The records that all of them process, and how many: 100-byte JSON about 100,000 keys."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

if TYPE_CHECKING:
    from collections.abc import Iterator

READINGS, LIMITS, CHECKS = "readings", "limits", "checks"
WARM_READINGS, WARM_LIMITS, WARM_CHECKS = "warm-readings", "warm-limits", "warm-checks"
READING_TYPE = "id string, value bigint, unit string, site string, note string"
LIMIT_TYPE = "highest bigint, alarm string"
CHECK_TYPE = "checked bigint, inspector string"
THRESHOLD = 500_000
"""The filter keeps half of the records."""

RECORDS_VARIABLE = "HEADWATER_BENCH_RECORDS"
PARTITIONS = 4
RECORD_BYTES = 100

_RECORDS, _PEER_RECORDS, _KEYS = 10_000_000, 200_000, 100_000
# As many as the JVM needs to compile what it runs: the first job would pay for those after it.
_WARM_RECORDS = 500_000
_WARM_KEYS = 1_000
_UPDATE_EVERY = 100
# A whole minute, so that the records lie in ten windows exactly.
_START_MS = 1_790_000_040_000
_SPREAD_MS = 600_000
_POLL_EVERY = 1_000
_ANSWER_WITHIN_S = 60.0
_PRODUCER = {
    "linger.ms": 20,
    "batch.size": 500_000,
    "batch.num.messages": 100_000,
    "queue.buffering.max.messages": 500_000,
    "queue.buffering.max.kbytes": 500_000,
    # A call for each of ten million records would take the longest.
    "delivery.report.only.error": True,
}


class Expected(NamedTuple):
    """What the results of the jobs are made of."""

    records: int
    kept: int
    """How many of them the filter keeps."""
    keys: int
    """How many keys have a reading; each has a limit."""
    updates: int
    """How many records the table of limits has."""
    pairs: int
    """How many pairs of a reading and a check are close enough."""


@dataclass(frozen=True)
class Workload:
    """How much is processed; smaller for a trial."""

    records: int
    peer_records: int
    """Quix Streams and Faust process the first so many: they would need hours for all of them."""
    keys: int
    latency_s: float

    @classmethod
    def from_environment(cls) -> Workload:
        """Return the usual sizes, unless HEADWATER_BENCH_RECORDS and its like say otherwise."""
        records = _number("RECORDS", _RECORDS)
        return cls(
            records,
            min(_number("PEER_RECORDS", _PEER_RECORDS), records),
            min(_number("KEYS", _KEYS), records),
            float(_number("LATENCY_SECONDS", 20)),
        )

    @property
    def warm_up(self) -> Workload:
        """What is in the topics to warm up with."""
        return replace(
            self, records=min(_WARM_RECORDS, self.records), keys=min(self.keys, _WARM_KEYS)
        )

    @property
    def expected(self) -> Expected:
        return _expected(self)

    @property
    def pair_within_ms(self) -> int:
        """The span to both sides in which a reading meets one check, on average."""
        return _SPREAD_MS * self.keys // self.records // 2

    def fill(self, bootstrap_servers: str) -> None:
        """Write the input topics, and small ones to warm up with."""
        for workload, readings, limits, checks in (
            (self.warm_up, WARM_READINGS, WARM_LIMITS, WARM_CHECKS),
            (self, READINGS, LIMITS, CHECKS),
        ):
            size = workload.records, workload.keys
            create_topics(bootstrap_servers, readings, limits, checks)
            send(bootstrap_servers, limits, _limits(*size))
            send(bootstrap_servers, readings, _readings(*size))
            send(bootstrap_servers, checks, _checks(*size))


def create_topics(bootstrap_servers: str, *names: str, partitions: int = PARTITIONS) -> None:
    admin = _admin(bootstrap_servers)
    # The records have times of their own, which are old by any clock.
    kept = {"retention.ms": "-1"}
    wanted = [NewTopic(name, partitions, 1, config=kept) for name in names]
    for done in admin.create_topics(wanted).values():
        try:
            done.result(_ANSWER_WITHIN_S)
        except KafkaException as failure:
            # The client asked again, since the first answer was slow to come.
            if failure.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise


def delete_topics(bootstrap_servers: str, *names: str) -> None:
    admin = _admin(bootstrap_servers)
    for done in admin.delete_topics(list(names)).values():
        done.result(_ANSWER_WITHIN_S)


def delete_topics_of(bootstrap_servers: str, prefix: str) -> None:
    """Delete all topics whose names begin so."""
    found = _admin(bootstrap_servers).list_topics(timeout=_ANSWER_WITHIN_S).topics
    delete_topics(bootstrap_servers, *(name for name in found if name.startswith(prefix)))


def send(bootstrap_servers: str, topic: str, records: Iterator[tuple[bytes, bytes, int]]) -> None:
    """Send keys and values with their times; raises RuntimeError if not all arrived."""
    failed: list[str] = []

    def on_delivery(error: object, _message: object) -> None:
        failed.append(str(error))

    producer = Producer({"bootstrap.servers": bootstrap_servers, **_PRODUCER})
    produce = producer.produce
    for number, (key, value, at_ms) in enumerate(records):
        while True:
            try:
                produce(topic, value, key, timestamp=at_ms, on_delivery=on_delivery)
                break
            except BufferError:
                producer.poll(0.1)
        if not number % _POLL_EVERY:
            producer.poll(0)
    left = producer.flush(_ANSWER_WITHIN_S)
    if left or failed:
        raise RuntimeError(f"{topic}: {left} records were not sent. {failed[:1]}")


def _admin(bootstrap_servers: str) -> AdminClient:
    # Without it, librdkafka says at its end that it had nothing left to say.
    return AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 3})


def _readings(count: int, keys: int) -> Iterator[tuple[bytes, bytes, int]]:
    ids = [b"%06d" % number for number in range(keys)]
    tails = [_padded(site) for site in range(100)]
    for number, (drawn, measured) in enumerate(_drawn(count, keys)):
        key = ids[drawn]
        value = b'{"id":"%b","value":%06d%b' % (key, measured, tails[number % 100])
        yield key, value, _time(number, count)


def _drawn(count: int, keys: int) -> Iterator[tuple[int, int]]:
    """Which key each reading is of, and its value: the same ones every time."""
    draw = random.Random(1).random
    for _ in range(count):
        yield int(draw() * keys), 100_000 + int(draw() * 800_000)


def _checks(count: int, keys: int) -> Iterator[tuple[bytes, bytes, int]]:
    """As many as there are readings, each of any key at any time."""
    for number, (key, checked) in enumerate(_checked(count, keys)):
        value = b'{"checked":%d,"inspector":"inspector-%d"}' % (checked, checked % 50)
        yield b"%06d" % key, value, _time(number, count)


def _checked(count: int, keys: int) -> Iterator[tuple[int, int]]:
    draw = random.Random(3).random
    for _ in range(count):
        yield int(draw() * keys), int(draw() * 1_000_000)


@cache
def _expected(workload: Workload) -> Expected:
    count, keys = workload.records, workload.keys
    kept, seen = 0, bytearray(keys)
    for key, measured in _drawn(count, keys):
        seen[key] = 1
        kept += measured > THRESHOLD
    updates = keys + len(range(0, count, _UPDATE_EVERY))
    return Expected(count, kept, sum(seen), updates, _pairs(workload))


def _pairs(workload: Workload) -> int:
    """Count the checks around each reading, in a line in which keys are far from each other."""
    times = np.arange(workload.records, dtype=np.int64) * _SPREAD_MS // workload.records
    readings = times + _places(_drawn(workload.records, workload.keys), workload.records)
    checks = times + _places(_checked(workload.records, workload.keys), workload.records)
    checks.sort()
    span = workload.pair_within_ms
    until = np.searchsorted(checks, readings + span, side="right")
    return int((until - np.searchsorted(checks, readings - span, side="left")).sum())


def _places(
    drawn: Iterator[tuple[int, int]], count: int
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    keys = np.fromiter((key for key, _ in drawn), np.int64, count)
    return keys * (4 * _SPREAD_MS)


def _padded(site: int) -> bytes:
    head = len(b'{"id":"000000","value":100000')
    body = b',"unit":"kW","site":"site-%02d","note":"' % site
    return body + b"x" * (RECORD_BYTES - head - len(body) - 2) + b'"}'


def _limits(count: int, keys: int) -> Iterator[tuple[bytes, bytes, int]]:
    """The table before the first reading, and then an update for each hundred readings."""
    chance = random.Random(2)
    for number in range(keys):
        yield b"%06d" % number, _limit(chance), _START_MS - 1
    for number in range(0, count, _UPDATE_EVERY):
        yield b"%06d" % chance.randrange(keys), _limit(chance), _time(number, count)


def _limit(chance: random.Random) -> bytes:
    return b'{"highest":%d,"alarm":"level-%d"}' % (
        chance.randrange(1_000_000),
        chance.randrange(5),
    )


def _time(number: int, count: int) -> int:
    return _START_MS + number * _SPREAD_MS // count


def _number(name: str, default: int) -> int:
    return int(os.environ.get(f"HEADWATER_BENCH_{name}", default))
