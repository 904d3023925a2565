"""Look-ups: how soon a table of a million keys is there, and how long one look-up takes."""

from __future__ import annotations

import http.client
import random
import tempfile
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from benchmarks.targets import HEADWATER, running
from headwater.clients import ClusterAccess
from headwater.plan.formats import Format
from headwater.plan.schemas.types import BIGINT, STRING, Struct
from headwater.stores import FollowedTable, Position, Side, Stores
from headwater.stores.http.api import serve_stores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from confluent_kafka import Message

    from benchmarks.results import Results

KEYS = 1_000_000
LOOK_UPS = 20_000
REQUESTS = 5_000
WRITES = 300
PARTITIONS = 4
_WITHIN_S = 300.0

FIRST = "stores: 1,000,000 keys into a new file"
FIRST_CPU = f"{FIRST}, CPU time"
RESTART = "stores: 1,000,000 keys after a restart"
GET, GET_99 = "stores: look-up in process, median", "stores: look-up in process, 99 %"
HTTP, HTTP_99 = "stores: look-up over HTTP, median", "stores: look-up over HTTP, 99 %"
SIZE = "stores: size of the file"
GOALS = {RESTART: "30,000 ms", GET_99: "1 ms", HTTP_99: "5 ms"}
INTRODUCTION = f"""A table of {KEYS:,} keys in {PARTITIONS} partitions, on Headwater's broker,
with short JSON values. The client of the look-ups over HTTP is in the same process as the server,
on one connection. To load a new file takes a core as long as its CPU time says, and longer where
the machine has much else to do, as it had in this run. A write is read: from its delivery report
until a look-up with its position has answered."""

_TABLE = FollowedTable(
    "counts",
    "counts",
    Side(Format("string"), STRING),
    Side(Format("json"), Struct.of(count=BIGINT)),
)


def measure(rounds: int, results: Results, note: Callable[[str], None]) -> None:
    """Measure a store on a fresh broker, so many times."""
    for number in range(1, rounds + 1):
        note(f"round {number} of {rounds}: look-ups")
        with running(HEADWATER) as broker, tempfile.TemporaryDirectory() as directory:
            for name, value in _figures(broker.bootstrap_servers, Path(directory)):
                results.add(name, "MB" if name == SIZE else "ms", HEADWATER, value)


def _figures(servers: str, directory: Path) -> Iterator[tuple[str, float]]:
    producer = _fill(servers)
    stores = Stores([_TABLE], ClusterAccess(servers), directory)
    with stores:
        used = time.process_time()
        yield FIRST, _opened_ms(stores)
        yield FIRST_CPU, (time.process_time() - used) * 1000
    with stores:
        yield RESTART, _opened_ms(stores)
        yield from _spread(GET, GET_99, _look_ups(stores))
        yield "stores: range of 1,000 keys", _range_ms(stores)
        yield from _spread(HTTP, HTTP_99, _requests(stores))
        yield "stores: a write is read, median", _median(_written_and_read(stores, producer))
    size = sum(path.stat().st_size for path in directory.iterdir())
    yield SIZE, size / 1e6


def _fill(servers: str) -> Producer:
    admin = AdminClient({"bootstrap.servers": servers})
    topic = NewTopic("counts", PARTITIONS, 1, config={"cleanup.policy": "compact"})
    admin.create_topics([topic])["counts"].result()
    producer = Producer(
        {"bootstrap.servers": servers, "linger.ms": 20, "queue.buffering.max.messages": KEYS}
    )
    numbers = list(range(KEYS))
    random.Random(0).shuffle(numbers)
    for number in numbers:
        producer.produce("counts", f'{{"count":{number}}}', _key(number))
    producer.flush()
    return producer


def _key(number: int) -> str:
    return f"key-{number:07}"


def _opened_ms(stores: Stores) -> float:
    """Return how long it takes until the first look-up is answered."""
    began = time.perf_counter()
    store = stores.key_value("counts")
    store.wait_until_ready(_WITHIN_S)
    assert store.get(_key(17)) == {"count": 17}
    return (time.perf_counter() - began) * 1000


def _look_ups(stores: Stores) -> list[float]:
    store, chance = stores.key_value("counts"), random.Random(1)
    keys = [_key(chance.randrange(KEYS)) for _ in range(LOOK_UPS)]
    return [_timed(partial(store.get, key)) for key in keys]


def _range_ms(stores: Stores) -> float:
    store = stores.key_value("counts")
    return _median([_timed(lambda: list(store.range(_key(5000), _key(5999)))) for _ in range(50)])


def _requests(stores: Stores) -> list[float]:
    chance = random.Random(2)
    port = serve_stores(stores, 0)
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as client:

        def ask(key: str) -> None:
            client.request("GET", f"/stores/counts/keys/{key}")
            answer = client.getresponse()
            assert answer.status == 200
            answer.read()

        keys = [_key(chance.randrange(KEYS)) for _ in range(REQUESTS)]
        return [_timed(partial(ask, key)) for key in keys]


def _written_and_read(stores: Stores, producer: Producer) -> Iterator[float]:
    store = stores.key_value("counts")
    for number in range(WRITES):
        delivered: list[Message] = []
        producer.produce(
            "counts", f'{{"count":{number}}}', "mine",
            on_delivery=lambda _, message, into=delivered: into.append(message),
        )  # fmt: skip
        producer.flush()
        began = time.perf_counter()
        found = store.get("mine", at_least=Position.after(*delivered))
        yield (time.perf_counter() - began) * 1000
        assert found == {"count": number}


def _timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


def _median(samples: Iterator[float] | Sequence[float]) -> float:
    return _of(sorted(samples), 0.5)


def _spread(middle: str, late: str, samples: Sequence[float]) -> Iterator[tuple[str, float]]:
    in_order = sorted(samples)
    yield middle, _of(in_order, 0.5)
    yield late, _of(in_order, 0.99)


def _of(in_order: Sequence[float], share: float) -> float:
    return in_order[int(len(in_order) * share)]
