"""A program of all stateless operators, and in plain Python what each makes of a record."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.integration.streams_reference import Batch, Event, Result, Value, shown

from headwater.streams import col, expr, lit
from headwater.streams import functions as F  # noqa: N812 - as all of Spark's users know it

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from headwater.streams import KStream

READING = "id string, value bigint"


def stateless_streams(readings: KStream, peeked: Path) -> list[KStream]:
    """Return streams of one type, each labelled with what was done."""

    # Functions are inside, so that they are sent to Spark's workers as a whole.
    def positive(value: Value | None) -> bool:
        return value is not None and value["value"] is not None and value["value"] > 0

    def louder(value: Value | None) -> Value:
        number = None if value is None else value["value"]
        return {
            "id": None if value is None else value["id"].upper(),
            "value": None if number is None else number * 2,
        }

    def turned(key: str | None, value: Value | None) -> tuple[str | None, Value]:
        number = None if value is None else value["value"]
        new = None if number is None else number + 1
        return None if value is None else value["id"], {"id": key, "value": new}

    def parts(value: Value | None) -> list[str]:
        return [] if value is None else value["id"].split("-")

    def keyed_parts(value: Value | None) -> list[tuple[str, Value]]:
        return [] if value is None else [(part, value) for part in value["id"].split("-")]

    def own_id(key: str | None, value: Value | None) -> str | None:
        return None if value is None else value["id"]

    def odd(value: Value | None) -> bool:
        return value is not None and value["value"] is not None and value["value"] % 2 == 1

    turned_value = F.struct(id=col("key"), value=col("value") + 1)
    pairs = expr(
        "transform(split(id, '-'), part -> named_struct('key', part, 'value',"
        " named_struct('id', id, 'value', value)))"
    ).cast("array<struct<key:string,value:struct<id:string,value:bigint>>>")
    split = readings.split(high="value > 5", low=col("value") < -5, odd=odd)
    high, odds = readings.branch("value > 5", odd)
    table = readings.to_table()
    streams = {
        "filter": readings.filter(col("value") > 0),
        "filter-sql": readings.filter("value > 0"),
        "filter-python": readings.filter(positive),
        "filter-not": readings.filter_not(col("value") > 0),
        "filter-not-python": readings.filter_not(positive),
        "map-values": readings.map_values(id=F.upper("id"), value="value * 2"),
        "map-values-python": readings.map_values(louder, returns=READING),
        "map": readings.map(key=col("id"), value=turned_value),
        "map-python": readings.map(turned, returns=("string", READING)),
        "flat-map": readings.flat_map(pairs),
        "flat-map-python": readings.flat_map(keyed_parts, returns=("string", READING)),
        "select-key": readings.select_key("id"),
        "select-key-python": readings.select_key(own_id, returns="string"),
        "split-high": split["high"],
        "split-low": split["low"],
        "split-odd": split["odd"],
        "split-default": split["default"],
        "branch-high": high,
        "branch-odd": odds,
        "repartition": readings.repartition(2),
        "peek": readings.peek(noting(peeked)),
        "table": table.filter("value > 0").map_values(id=F.upper("id"), value="value").to_stream(),
        "table-python": table.filter_not(positive).map_values(louder, returns=READING).to_stream(),
    }
    words = {
        "flat-map-values": readings.flat_map_values("split(id, '-')"),
        "flat-map-values-python": readings.flat_map_values(parts, returns="string"),
    }
    gone = "record.value IS NULL"
    return [
        *(
            stream.map_values(op=lit(label), gone=gone, id="id", value="value")
            for label, stream in streams.items()
        ),
        *(
            stream.map_values(
                op=lit(label), gone=gone, id=col("value"), value="cast(length(value) AS bigint)"
            )
            for label, stream in words.items()
        ),
    ]


def noting(path: Path) -> Callable[[str | None, Value | None], None]:
    """Return a function that appends each record to a file, from whichever process."""
    text = str(path)

    def note(key: str | None, value: Value | None) -> None:
        with open(text, "a") as file:
            file.write(f"{key} {json.dumps(value)}\n")

    return note


Expected = list[tuple[str | None, Value | None]]


def _filtered(keep: Callable[[int | None], bool]) -> Callable[[Event], Expected]:
    return lambda event: [(event.key, event.value)] if keep(event.number) else []


def _is_high(number: int | None) -> bool:
    return number is not None and number > 5


def _is_low(number: int | None) -> bool:
    return number is not None and number < -5


def _is_odd(number: int | None) -> bool:
    return number is not None and number % 2 == 1 and not _is_high(number)


def _positive(number: int | None) -> bool:
    return number is not None and number > 0


def _louder(event: Event) -> Value:
    number = event.number
    return {"id": event.id and event.id.upper(), "value": None if number is None else number * 2}


def _turned(event: Event) -> Expected:
    number = event.number
    value = {"id": event.key, "value": None if number is None else number + 1}
    return [(event.id, value)]


def _parts(event: Event) -> list[str]:
    return [] if event.value is None else event.value["id"].split("-")


def _upper_if_positive(event: Event) -> Expected:
    if event.key is None:
        return []
    if not _positive(event.number):
        return [(event.key, None)]
    assert event.value is not None, "only a value has a number"
    return [(event.key, {"id": event.value["id"].upper(), "value": event.value["value"]})]


def _louder_unless_positive(event: Event) -> Expected:
    if event.key is None:
        return []
    gone = event.value is None or _positive(event.number)
    return [(event.key, None if gone else _louder(event))]


def _words(event: Event) -> Expected:
    return [(event.key, {"id": part, "value": len(part)}) for part in _parts(event)]


def _pairs(event: Event) -> Expected:
    return [(part, event.value) for part in _parts(event)]


STATELESS: dict[str, Callable[[Event], Expected]] = {
    "filter": _filtered(_positive),
    "filter-sql": _filtered(_positive),
    "filter-python": _filtered(_positive),
    "filter-not": _filtered(lambda number: not _positive(number)),
    "filter-not-python": _filtered(lambda number: not _positive(number)),
    "map-values": lambda event: [(event.key, _louder(event))],
    "map-values-python": lambda event: [(event.key, _louder(event))],
    "map": _turned,
    "map-python": _turned,
    "flat-map": _pairs,
    "flat-map-python": _pairs,
    "flat-map-values": _words,
    "flat-map-values-python": _words,
    "select-key": lambda event: [(event.id, event.value)],
    "select-key-python": lambda event: [(event.id, event.value)],
    "split-high": _filtered(_is_high),
    "split-low": _filtered(_is_low),
    "split-odd": _filtered(lambda number: _is_odd(number) and not _is_low(number)),
    "split-default": _filtered(lambda n: not (_is_high(n) or _is_low(n) or _is_odd(n))),
    "branch-high": _filtered(_is_high),
    "branch-odd": _filtered(_is_odd),
    "repartition": lambda event: [(event.key, event.value)],
    "peek": lambda event: [(event.key, event.value)],
    "table": _upper_if_positive,
    "table-python": _louder_unless_positive,
}
"""What each labelled stream makes of a record."""


def labelled(make: Callable[[Event], Expected], batch: Batch) -> list[Result]:
    """Return what a labelled stream has after a batch."""
    results = []
    for event in batch:
        for key, value in make(event):
            fields = {"gone": value is None, **(value or {})}
            results.append(Result(key, shown(fields), event.time))
    return results
