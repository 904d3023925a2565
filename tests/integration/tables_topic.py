"""Many tables in one topic, so that a test tries them in one query: written, run and read."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.integration.streams_reference import Event, Value
    from tests.integration.tables_reference import Changes

    from headwater.streams import KTable
    from headwater.testing.topology_driver import TopologyDriver

START = datetime(2026, 1, 1, tzinfo=UTC)


def write_all(tables: Mapping[str, KTable], key: str = "key", topic: str = "out") -> None:
    """Put the changes of all tables into one topic, whose keys say which table it was."""
    first, *others = [
        table.to_stream().map(key=f"concat('{name}/', {key})", value="to_json(value)")
        for name, table in tables.items()
    ]
    first.merge(*others).to(topic, value="string")


def run_batch(
    driver: TopologyDriver, batch: list[Event], topics: Sequence[str] = ("out",)
) -> dict[str, dict[str, list[Any]]]:
    """Return what each table made of a batch, key by key."""
    for event in batch:
        at = START + timedelta(seconds=event.time)
        driver.pipe(event.topic, event.key, event.value, timestamp=at)
    found: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for record in (each for topic in topics for each in driver.read(topic)):
        name, key = record.key.split("/")
        second = round((record.timestamp - START).total_seconds())
        found[name][key].append((record.value, second))
    return found


def shown_changes(
    changes: Changes, value_of: Callable[[Any], Value | None] = lambda value: value
) -> dict[str, list[Any]]:
    """Return the changes as records of the topic."""
    return {
        str(key): [(_json(value_of(each.value)), each.time) for each in found]
        for key, found in changes.items()
        if found
    }


def _json(value: Value | None) -> str | None:
    if value is None:
        return None
    parts = (f'"{name}":{each}' for name, each in value.items() if each is not None)
    return "{" + ",".join(parts) + "}"
