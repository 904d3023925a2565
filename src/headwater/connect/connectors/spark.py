"""Any format of Spark as a connector: what it can read is a source, what it can write a sink."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import headwater
from headwater.config import (
    NOT_EMPTY,
    ConfigDef,
    ConfigType,
    Definitions,
    Importance,
    at_least,
    one_of,
)
from headwater.connect.connectors.connector import (
    ConnectorError,
    ConnectorType,
    FieldError,
    SourceRows,
)
from headwater.connect.data.schema import Type
from headwater.connect.data.shape import Shape
from headwater.connect.data.spark_types import schema_of
from headwater.connect.data.sql_text import text
from headwater.plan.schemas.types import backticked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame

    from headwater.config import Values
    from headwater.connect.connectors.connector import (
        ConnectorContext,
        SinkBatch,
        TopicPartition,
    )

_OPTION = "option."
_FORMAT = ConfigDef(
    "format",
    ConfigType.STRING,
    None,
    "Spark's name of the format, such as parquet, json, csv, orc or that of a package.",
    NOT_EMPTY,
    importance=Importance.HIGH,
)
_PATH = ConfigDef(
    "path",
    ConfigType.STRING,
    None,
    "The folder, file or address, for formats that have one.",
    NOT_EMPTY,
    importance=Importance.HIGH,
)


class SparkSourcePlugin:
    """Reads what a format of Spark reads. Options of the format are given as `option.NAME`."""

    class_names = ("headwater.SparkSource", "SparkSource")
    type = ConnectorType.SOURCE
    version = headwater.__version__
    definitions = Definitions(
        "SparkSource",
        _FORMAT,
        _PATH,
        ConfigDef(
            "topic",
            ConfigType.STRING,
            None,
            "The topic to write to.",
            NOT_EMPTY,
            importance=Importance.HIGH,
        ),
        ConfigDef(
            "mode",
            ConfigType.STRING,
            "once",
            "`once` reads all rows one time, `bulk` reads them each time, `incrementing` those "
            "with a higher value of `incrementing.column.name`.",
            one_of("once", "bulk", "incrementing"),
        ),
        ConfigDef(
            "incrementing.column.name",
            ConfigType.STRING,
            None,
            "A column of whole numbers that only grows.",
            NOT_EMPTY,
        ),
        ConfigDef(
            "poll.interval.ms",
            ConfigType.INT,
            60_000,
            "How often to look for rows; each look is a Spark job.",
            at_least(1),
        ),
        open_prefixes=(_OPTION,),
    )

    def check(self, config: Values) -> list[FieldError]:
        """Return what is missing."""
        needed = {"format": "parquet", "topic": "readings"}
        if config.text("mode") == "incrementing":
            needed["incrementing.column.name"] = "id"
        return [
            FieldError(name, f"a value is needed, such as {example}")
            for name, example in needed.items()
            if config.text(name) is None
        ]

    def open(self, config: Values, context: ConnectorContext) -> SparkSource:
        """Return a source that goes on from the stored offset."""
        if errors := self.check(config):
            raise ConnectorError("; ".join(f"{each.name}: {each.message}" for each in errors))
        return SparkSource(config, context)


class SparkSource:
    """The rows of one DataFrame that Spark loads."""

    def __init__(self, config: Values, context: ConnectorContext) -> None:
        self._config = config
        self._context = context
        self._partition = {
            "format": config.text("format") or "",
            "path": config.text("path") or "",
        }
        self._offset = context.stored_offset(self._partition) or {}
        self._next_poll = 0.0

    def poll(self) -> Sequence[SourceRows]:
        """Return the rows that are to be read now."""
        now = time.monotonic()
        mode = self._config.text("mode")
        if now < self._next_poll or (mode == "once" and self._offset.get("read")):
            return ()
        self._next_poll = now + self._config.integer("poll.interval.ms") / 1000
        rows = self._load()
        if mode == "incrementing":
            return self._news(rows)
        self._offset = {"read": True} if mode == "once" else {}
        return [self._records(rows)]

    def next_poll_s(self) -> float:
        """Return how long it is until `poll.interval.ms` is over."""
        return max(0.0, self._next_poll - time.monotonic())

    def committed(self) -> None:
        """Do nothing: the offset moves on with each poll."""

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def _load(self) -> DataFrame:
        reader = self._context.session.read.format(self._config.text("format") or "")
        return reader.options(**_options(self._context.properties)).load(self._config.text("path"))

    def _news(self, rows: DataFrame) -> list[SourceRows]:
        column = backticked(self._config.text("incrementing.column.name") or "")
        last = self._offset.get("incrementing")
        if last is not None:
            rows = rows.where(f"{column} > {last}")
        found = rows.selectExpr(f"CAST(max({column}) AS BIGINT)").collect()[0][0]
        if found is None:
            return []
        self._offset = {"incrementing": found}
        return [self._records(rows.where(f"{column} <= {found}"))]

    def _records(self, rows: DataFrame) -> SourceRows:
        topic = text(self._config.text("topic") or "")
        frame = rows.selectExpr(f"{topic} AS topic", "struct(*) AS value")
        shape = Shape(value=schema_of(frame.schema["value"].dataType.json()))
        return SourceRows(frame, shape, ((self._partition, self._offset),) if self._offset else ())


class SparkSinkPlugin:
    """Writes what a format of Spark writes. Options of the format are given as `option.NAME`."""

    class_names = ("headwater.SparkSink", "SparkSink")
    type = ConnectorType.SINK
    version = headwater.__version__
    definitions = Definitions("SparkSink", _FORMAT, _PATH, open_prefixes=(_OPTION,))

    def check(self, config: Values) -> list[FieldError]:
        """The format has to be given."""
        if config.text("format") is None:
            return [FieldError("format", "a value is needed, such as parquet")]
        return []

    def open(self, config: Values, context: ConnectorContext) -> SparkSink:
        """Return a sink."""
        if errors := self.check(config):
            raise ConnectorError(errors[0].message)
        return SparkSink(config, context)


class SparkSink:
    """Appends the records' values; after a crash some may be there twice."""

    def __init__(self, config: Values, context: ConnectorContext) -> None:
        self._format = config.text("format") or ""
        self._path = config.text("path")
        self._options = _options(context.properties)
        self._tasks = context.tasks_max

    def write(self, batch: SinkBatch) -> None:
        """Append a batch; a struct's fields are the columns."""
        schema = batch.shape.value
        is_struct = schema is not None and schema.type is Type.STRUCT
        rows = batch.frame.where("value IS NOT NULL").selectExpr(
            "value.*" if is_struct else "value"
        )
        writer = rows.coalesce(self._tasks).write.format(self._format).mode("append")
        writer.options(**self._options).save(self._path)

    def moved_to(self, positions: Mapping[TopicPartition, int]) -> None:
        """Do nothing: it remembers no positions."""

    def close(self) -> None:
        """Do nothing: nothing is open."""


def _options(properties: Mapping[str, str]) -> dict[str, str]:
    return {
        name.removeprefix(_OPTION): value
        for name, value in properties.items()
        if name.startswith(_OPTION)
    }
