"""What a worker gives to connectors, for tests that run them through their protocol alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.conftest import unmet
from tests.docs_page import ROOT, blocks
from tests.mariadb import MariaDb, is_installed

from headwater.config import Values
from headwater.connect.connectors.connector import ConnectorContext, SinkBatch, TopicPartition
from headwater.connect.connectors.plugins import plugin
from headwater.connect.data.spark_types import ddl

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import SparkSession

    from headwater.connect.connectors.connector import Sink, Source, SourceRows
    from headwater.connect.data.shape import Shape


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDb]:
    """A MariaDB for the tests of a module."""
    if not is_installed():
        unmet("mariadbd is not installed")
    server = MariaDb(tmp_path_factory.mktemp("mariadb"))
    server.start()
    yield server
    server.stop()


class StoredOffsets:
    """The offsets that a worker keeps in Kafka."""

    def __init__(self) -> None:
        self._kept: list[tuple[Mapping[str, object], Mapping[str, object]]] = []

    def __call__(self, partition: Mapping[str, object]) -> Mapping[str, object] | None:
        return next((offset for known, offset in self._kept if known == partition), None)

    def keep(self, rows: Sequence[SourceRows]) -> None:
        """Commit what came with these rows."""
        for partition, offset in (pair for each in rows for pair in each.offsets):
            self._kept = [pair for pair in self._kept if pair[0] != partition]
            self._kept.append((partition, offset))


def open_source(
    spark: SparkSession,
    given: Mapping[str, str],
    offsets: StoredOffsets | None = None,
    tasks_max: int = 1,
) -> Source:
    """Open a source as a worker does."""
    source: Source = _open(
        spark, given, stored_offset=offsets or StoredOffsets(), tasks_max=tasks_max
    )
    return source


def open_sink(
    spark: SparkSession, given: Mapping[str, str], name: str = "sink", tasks_max: int = 1
) -> Sink:
    """Open a sink as a worker does."""
    sink: Sink = _open(spark, given, name=name, tasks_max=tasks_max)
    return sink


def page_configs(page: str, **changes: str) -> dict[str, dict[str, str]]:
    """Return the configurations on a page of the documentation, with other places than it has."""
    found = [json.loads(block) for block in blocks(ROOT / "docs" / page, "json")]
    return {
        each["name"]: each["config"]
        | {
            name.replace("_", "."): value
            for name, value in changes.items()
            if name.replace("_", ".") in each["config"]
        }
        for each in found
    }


def values(rows: Sequence[SourceRows]) -> list[Any]:
    """Return the values of all rows, structs as dicts."""
    found = [row.value for each in rows for row in each.frame.collect()]
    return [value.asDict() if hasattr(value, "asDict") else value for value in found]


def sink_batch(
    spark: SparkSession,
    shape: Shape,
    rows: Sequence[tuple[object, object]],
    *,
    start: int = 0,
    topic: str = "orders",
) -> SinkBatch:
    """Return records of partition 0, given as key and value, from an offset on."""
    types = ["void" if value is None else ddl(value) for value in (shape.key, shape.value)]
    schema = (
        f"topic string, partition int, key {types[0].replace('void', 'string')}, "
        f"value {types[1]}, headers array<struct<key: string, value: binary>>, "
        "timestamp timestamp, _topic string, _partition int, _offset bigint"
    )
    data = [
        (topic, 0, key, value, None, None, topic, 0, start + number)
        for number, (key, value) in enumerate(rows)
    ]
    frame = spark.createDataFrame(data, schema).coalesce(1)
    return SinkBatch(frame, shape, {TopicPartition(topic, 0): (start, start + len(rows))})


def _open(spark: SparkSession, given: Mapping[str, str], name: str = "c", **rest: Any) -> Any:
    of = plugin(given["connector.class"])
    own = {key: text for key, text in given.items() if key in of.definitions}
    config = Values(of.definitions, own)
    assert of.check(config) == []
    context = ConnectorContext(name, lambda: spark, properties=given, **rest)
    return of.open(config, context)
