"""The sink to object stores with a real S3 server and a folder, as docs/connect-s3.md has it."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime, timedelta
from io import BytesIO
from random import Random
from typing import TYPE_CHECKING, Any

import fastavro
import pytest
from pyarrow import parquet
from tests.conftest import unmet
from tests.connector_runs import open_sink, page_configs, sink_batch
from tests.s3_server import S3Server
from tests.spark_session import spark

from headwater.config import Values
from headwater.connect.connectors.connector import (
    BufferingSink,
    ConnectorError,
    RetriableError,
    TopicPartition,
)
from headwater.connect.connectors.plugins import plugin
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.shape import Shape
from headwater.java.artifacts import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

__all__ = ["spark"]

PAGE = "connect-s3.md"
FORMAT = "io.confluent.connect.s3.format"
ORDER = Shape(
    value=connect.struct(
        {
            "id": Schema(Type.INT64),
            "region": Schema(Type.STRING, optional=True),
            "at": connect.timestamp(),
        }
    )
)
EVENING = datetime(2026, 11, 18, 20, 50, tzinfo=UTC)
PLACE = TopicPartition("orders", 0)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A store with one bucket."""
    server = S3Server(tmp_path_factory.mktemp("s3"))
    try:
        server.start()
    except ArtifactError as failure:
        unmet(str(failure))
    server.make_bucket("lake")
    yield server
    server.stop()


def order(number: int, region: str | None = "south") -> tuple[int, str | None, datetime]:
    """An order, one a minute."""
    return number, region, EVENING + timedelta(minutes=number)


def buffering(spark: SparkSession, config: Mapping[str, str]) -> BufferingSink:
    """Open the sink, which is one that keeps records."""
    sink = open_sink(spark, config)
    assert isinstance(sink, BufferingSink)
    return sink


def write(
    spark: SparkSession, sink: BufferingSink, rows: Sequence[object], start: int
) -> int | None:
    """Write rows as a worker does; returns what it would commit."""
    sink.write(sink_batch(spark, ORDER, [(None, row) for row in rows], start=start))
    return sink.written().get(PLACE)


def in_folder(folder: Path) -> dict[str, bytes]:
    """Return what is in a folder, by name."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_hours_of_parquet(spark: SparkSession, server: S3Server) -> None:
    """Ten minutes are a file, an hour is a folder, and what has no file yet is not committed."""
    config = page_configs(PAGE)["orders-to-lake"] | server.properties
    sink = buffering(spark, config)
    assert write(spark, sink, [order(0), order(5)], 0) is None
    assert server.objects("lake") == {}
    assert write(spark, sink, [order(each) for each in range(9, 12)], 2) == 3
    sink.close()
    # Another worker goes on where files end: what the first one had kept comes again.
    sink = buffering(spark, config)
    assert write(spark, sink, [order(each) for each in (10, 11, 12, 60, 71)], 3) == 7
    sink.close()
    found = server.objects("lake")
    hours = "topics/orders/year=2026/month=11/day=18/hour="
    names = [f"{hours}{at}.snappy.parquet" for at in _PARQUET]
    assert sorted(found) == sorted(names)
    tables = [parquet.read_table(BytesIO(found[name])) for name in names]
    assert [table["id"].to_pylist() for table in tables] == list(_PARQUET.values())
    assert tables[0]["at"].to_pylist() == [order(each)[2] for each in (0, 5, 9)]


_PARQUET = {
    "20/orders+0+0000000000": [0, 5, 9],
    "21/orders+0+0000000003": [10, 11, 12],
    "21/orders+0+0000000006": [60],
}


def test_formats(spark: SparkSession, server: S3Server, tmp_path: Path) -> None:
    rows = [order(each, None if each % 2 else "south") for each in range(5)]
    for codec in ("null", "deflate", "snappy", "bzip2"):
        config = {
            "connector.class": "S3SinkConnector",
            "s3.bucket.name": "lake",
            "topics.dir": f"avro-{codec}",
            "flush.size": "2",
            "avro.codec": codec,
            **server.properties,
        }
        sink = buffering(spark, config)
        assert write(spark, sink, rows, 0) == 4
        sink.close()
        prefix = f"avro-{codec}/orders/partition=0/orders+0+000000000"
        found = {name: of for name, of in server.objects("lake").items() if name.startswith(prefix)}
        assert sorted(found) == [f"{prefix}0.avro", f"{prefix}2.avro"]
        read: Any = fastavro.reader(BytesIO(found[f"{prefix}2.avro"]))
        assert read.codec == codec
        assert [tuple(each.values()) for each in read] == rows[2:4]
    folder = {"store.url": f"file://{tmp_path}", "flush.size": "2", "file.delim": "-"}
    bytes_ = {"connector.class": "S3Sink", "format.class": f"{FORMAT}.bytearray.ByteArrayFormat"}
    sink = buffering(spark, bytes_ | folder)
    values = [(None, b"one"), (None, b"two")]
    sink.write(sink_batch(spark, Shape(value=Schema(Type.BYTES)), values))
    assert in_folder(tmp_path) == {
        "topics/orders/partition=0/orders-0-0000000000.bin": b"one\ntwo\n"
    }
    sink.close()


def test_each_record_is_in_one_file_wherever_a_worker_ends(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Records come in other batches each time, and files end by count, by time and by clock."""
    random = Random(59)
    count = 60
    rows = [order(each, random.choice(["north", "south", "a/b"])) for each in range(count)]
    config = page_configs(PAGE)["orders-to-folder"] | {
        "store.url": f"file://{tmp_path}",
        "flush.size": "7",
        "rotate.interval.ms": "240000",
        "timestamp.extractor": "RecordField",
        "timestamp.field": "at",
    }
    committed, crashes = 0, 0
    while committed < count - 7:
        clock = {"rotate.schedule.interval.ms": random.choice(["1", "-1"])}
        sink = buffering(spark, config | clock)
        position = committed
        for _ in range(random.randint(1, 3)):
            end = min(count, position + random.randint(1, 9))
            written = write(spark, sink, rows[position:end], position)
            position = end
            # A commit is lost if the worker ends before it.
            if written is not None and random.random() < 0.6:
                committed = written
        sink.close()
        crashes += 1
    assert crashes > 3
    sink = buffering(spark, config | {"flush.size": "1"})
    write(spark, sink, rows[committed:], committed)
    sink.close()
    found = in_folder(tmp_path)
    assert {name.split("/")[2] for name in found} == {
        "region=north",
        "region=south",
        "region=a%2Fb",
    }
    lines = [
        json.loads(line) for data in found.values() for line in gzip.decompress(data).splitlines()
    ]
    assert sorted(line["id"] for line in lines) == list(range(count))


def test_what_is_wrong_is_said_with_its_property(spark: SparkSession, server: S3Server) -> None:
    config = page_configs(PAGE)["orders-to-lake"] | server.properties
    with pytest.raises(ConnectorError, match=r"s3.bucket.name: .* has no bucket pond"):
        open_sink(spark, config | {"s3.bucket.name": "pond"})
    for wrong in ({"aws.access.key.id": "nobody"}, {"aws.secret.access.key": "guessed"}):
        with pytest.raises(ConnectorError, match=r"aws.access.key.id, aws.secret.access.key: "):
            open_sink(spark, config | wrong)
    away = {"store.url": "http://127.0.0.1:1", "s3.part.retries": "0"}
    with pytest.raises(RetriableError, match=r"store.url: http://127.0.0.1:1 cannot be reached"):
        open_sink(spark, config | away)
    sink = open_sink(spark, config)
    with pytest.raises(ConnectorError, match=r"format.class: ParquetFormat .* have none"):
        sink.write(sink_batch(spark, Shape(), [(None, None)]))
    with pytest.raises(Exception, match=r"orders \[0\] offset 3 has no value"):
        sink.write(sink_batch(spark, ORDER, [(None, None)], start=3))
    sink.close()
    sink = buffering(spark, config | {"behavior.on.null.values": "ignore"})
    assert write(spark, sink, [None, None], 3) == 5
    sink.close()


def test_a_configuration_is_checked_without_a_store() -> None:
    of = plugin("S3Sink")
    given = {
        "flush.size": "1",
        "store.url": "ftp://x",
        "aws.access.key.id": "a",
        "timezone": "Mars",
    }
    classes = {"format.class": "OrcFormat", "partitioner.class": "a.b.Daily"}
    found = {each.name for each in of.check(Values(of.definitions, given | classes))}
    assert found == {
        *("store.url", "s3.bucket.name", "aws.secret.access.key", "timezone"),
        *("format.class", "partitioner.class"),
    }
    by_time = {
        "store.url": "file:///srv",
        "flush.size": "1",
        "partitioner.class": "TimeBasedPartitioner",
        "path.format": "'week'=ww",
        "store.kafka.keys": "true",
    }
    wrong = {each.name for each in of.check(Values(of.definitions, by_time))}
    assert wrong == {"partition.duration.ms", "path.format", "store.kafka.keys"}
