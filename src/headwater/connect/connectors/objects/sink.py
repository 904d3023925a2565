"""The sink to object stores: records become files, each record in one of them."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import headwater
from headwater.connect.connectors.connector import (
    ConnectorError,
    ConnectorType,
    TopicPartition,
)
from headwater.connect.connectors.objects.formats import format_class
from headwater.connect.connectors.objects.open_files import OpenFile, OpenFiles, Rotation, Rows
from headwater.connect.connectors.objects.partitioners import (
    TimeBasedPartitioner,
    partitioner_class,
    record_time,
)
from headwater.connect.connectors.objects.settings import DEFINITIONS, check
from headwater.connect.connectors.objects.stores import open_store

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

    from headwater.config import Values
    from headwater.connect.connectors.connector import ConnectorContext, FieldError, SinkBatch
    from headwater.connect.connectors.objects.formats import Format
    from headwater.connect.data.schema import Schema

_UPLOADS_AT_ONCE = 8


class S3SinkPlugin:
    """Writes files to a bucket of an S3-compatible store, or to a folder."""

    class_names = ("io.confluent.connect.s3.S3SinkConnector", "S3SinkConnector", "S3Sink")
    type = ConnectorType.SINK
    version = headwater.__version__
    definitions = DEFINITIONS

    def check(self, config: Values) -> list[FieldError]:
        """Return what is missing or does not go together."""
        return check(config)

    def open(self, config: Values, context: ConnectorContext) -> ObjectSink:
        """Return a sink; raises ConnectorError where the store is not as the properties say."""
        del context
        if errors := check(config):
            raise ConnectorError("; ".join(f"{each.name}: {each.message}" for each in errors))
        return ObjectSink(config)


class ObjectSink:
    """Files of some topics. A partition is written up to where its last files are complete."""

    def __init__(self, config: Values) -> None:
        self._config = config
        self._store = open_store(config)
        partitioner = partitioner_class(config.text("partitioner.class") or "")
        self._partitioner = partitioner(config)
        self._rotation = Rotation(
            config.integer("flush.size"),
            config.integer("rotate.interval.ms"),
            by_folder=issubclass(partitioner, TimeBasedPartitioner),
        )
        self._open: dict[TopicPartition, OpenFiles] = {}
        self._written: dict[TopicPartition, int] = {}
        self._schemas: dict[TopicPartition, Schema | None] = {}
        self._schedule = _Schedule(config)
        self._uploads = ThreadPoolExecutor(_UPLOADS_AT_ONCE, "uploads")

    def write(self, batch: SinkBatch) -> None:
        """Write a batch, and store the files that are complete with it."""
        schema = batch.shape.value
        rows = batch.frame
        if (self._config.text("behavior.on.null.values") or "").lower() == "ignore":
            rows = rows.where("value IS NOT NULL")
        try:
            kind = format_class(self._config.text("format.class") or "")(self._config, schema)
        except ConnectorError:
            # Where there is no value at all, there is no schema to go by.
            if not rows.isEmpty():
                raise
        else:
            self._end_files_of_another_schema(batch.ranges, schema)
            table = self._columns(rows, schema, kind).toArrow()
            for partition in batch.ranges:
                self._take(partition, _rows_of(table, partition), kind)
        for partition, (_, end) in batch.ranges.items():
            if partition not in self._open:
                self._written[partition] = end

    def written(self) -> Mapping[TopicPartition, int]:
        """Return up to where partitions are in complete files, where that is news."""
        if self._schedule.is_due():
            self._store_all(self._open)
        news, self._written = self._written, {}
        return news

    def moved_to(self, positions: Mapping[TopicPartition, int]) -> None:
        """Forget what is not complete of these partitions."""
        for partition in positions:
            if files := self._open.pop(partition, None):
                files.cleared()

    def close(self) -> None:
        """Forget all that is not complete: it is read again."""
        self._uploads.shutdown()
        for files in self._open.values():
            files.cleared()

    def _columns(self, rows: DataFrame, schema: Schema | None, kind: Format) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        is_there = F.col("value").isNotNull()
        return rows.select(
            "_topic",
            "_partition",
            "_offset",
            F.when(is_there, record_time(self._config, schema)).alias("time"),
            F.when(is_there, self._name(schema)).alias("folder"),
            F.when(is_there, kind.column()).otherwise(_no_value()).alias("value"),
        )

    def _name(self, schema: Schema | None) -> Column:
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        directory, file = (self._config.text(f"{each}.delim") or "" for each in _DELIMITERS)
        prefix = self._config.text("topics.dir") or ""
        folders = [F.lit(prefix)] if prefix else []
        folders += [F.col("topic"), self._partitioner.folder(schema)]
        name = F.concat_ws(file, "topic", F.col("_partition").cast("string"), F.lit(""))
        return F.concat_ws(directory, *folders, name)

    def _take(self, partition: TopicPartition, rows: Rows, kind: Format) -> None:
        files = self._open.pop(partition, None)
        if files is None:
            digits = self._config.integer("filename.offset.zero.pad.width")
            memory = self._config.integer("s3.part.size")
            files = OpenFiles(self._rotation, kind, memory, f"0{digits}d")
        for _ in files.take(rows):
            self._put(partition, files)
        if files.files:
            self._open[partition] = files

    def _end_files_of_another_schema(
        self, partitions: Iterable[TopicPartition], schema: Schema | None
    ) -> None:
        for partition in partitions:
            if self._schemas.get(partition) != schema:
                self._store_all({partition} & self._open.keys())
            self._schemas[partition] = schema

    def _store_all(self, partitions: Iterable[TopicPartition]) -> None:
        for partition in list(partitions):
            self._put(partition, self._open.pop(partition))

    def _put(self, partition: TopicPartition, files: OpenFiles) -> None:
        for _ in self._uploads.map(self._upload, files.files):
            pass  # an error of one is raised here
        self._written[partition] = files.position
        files.cleared()

    def _upload(self, file: OpenFile) -> None:
        self._store.put(file.name, file.finished())


class _Schedule:
    """Ends files by the clock, at multiples of an interval since midnight."""

    def __init__(self, config: Values) -> None:
        interval = config.integer("rotate.schedule.interval.ms")
        self._interval = timedelta(milliseconds=interval) if interval > 0 else None
        self._zone = ZoneInfo(config.text("timezone") or "")
        self._next = self._after(time.time())

    def is_due(self) -> bool:
        """Tell whether it is time, once."""
        now = time.time()
        if self._next is None or now < self._next:
            return False
        self._next = self._after(now)
        return True

    def _after(self, now: float) -> float | None:
        if self._interval is None:
            return None
        local = datetime.fromtimestamp(now, self._zone)
        midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
        passed = (local - midnight) // self._interval
        return (midnight + (passed + 1) * self._interval).timestamp()


_DELIMITERS = ("directory", "file")


def _rows_of(table: pa.Table, partition: TopicPartition) -> Rows:
    import pyarrow.compute as pc

    if table.num_rows:
        is_its = pc.and_(
            pc.equal(table["_partition"], partition.partition),
            pc.equal(table["_topic"], partition.topic),
        )
        if not pc.all(is_its).as_py():
            table = table.filter(is_its)
    return Rows(
        table["_offset"].to_numpy(), table["time"].to_numpy(), table["folder"], table["value"]
    )


def _no_value() -> Column:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    return F.raise_error(
        F.concat(
            F.format_string("%s [%d] offset %d", "_topic", "_partition", "_offset"),
            F.lit(" has no value; behavior.on.null.values=ignore leaves such records out"),
        )
    )
