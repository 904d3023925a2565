"""Sales that never were: a shop that grows, and sells most before Christmas."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from confluent_kafka import Producer
from examples.sales.program import SALES

from headwater.clients import ClusterAccess

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator

PRICES = {"tent": 249_00, "lamp": 19_50, "stove": 89_00, "rope": 35_00}
SALESMEN = ("ann", "bob", "eve")
_DAY = timedelta(days=1)


def sales(
    chance: random.Random, first: datetime, last: datetime, a_day: float
) -> Iterator[dict[str, Any]]:
    """Return all sales between two days, so many on the first day, in the order of time."""
    day, number = first, 0
    while day < last:
        season = 1 + 0.4 * math.cos(2 * math.pi * (day.timetuple().tm_yday - 345) / 365)
        many = chance.gauss(a_day * season * (1 + 0.3 * number / 365), 0.5)
        times = sorted(chance.random() for _ in range(max(1, round(many))))
        yield from (sale(chance, day + part * _DAY) for part in times)
        day, number = day + _DAY, number + 1


def sale(chance: random.Random, at: datetime) -> dict[str, Any]:
    """Return one of them."""
    product = chance.choice(list(PRICES))
    return {
        "product": product,
        "salesman": chance.choice(SALESMEN),
        "quantity": chance.randint(1, 3),
        "price": PRICES[product],
        "at": at.astimezone(UTC).isoformat(),
    }


def write(servers: str, sold: Iterable[dict[str, Any]]) -> int:
    """Write sales to the topic, and return how many there were when all are there."""
    producer = Producer(
        {**ClusterAccess(servers).producer(), "queue.buffering.max.messages": 1_000_000}
    )
    count = 0
    for count, each in enumerate(sold, 1):  # noqa: B007 - how many there were
        at_ms = int(datetime.fromisoformat(each["at"]).timestamp() * 1000)
        producer.produce(SALES, json.dumps(each), each["product"], timestamp=at_ms)
        producer.poll(0)
    left = producer.flush(60)
    if left:
        raise TimeoutError(f"{left} of {count} sales were not written within a minute")
    return count
