"""A class of the user's as a connector: one with `read` is a source, one with `write` a sink.

class Counter:
    def __init__(self, config):              # the properties that begin with config.
        self.step = int(config.get("step", "1"))

    def read(self, offset):                  # None at first
        number = (offset or {"n": 0})["n"] + self.step
        return [{"number": number}], {"n": number}
"""

from __future__ import annotations

import importlib
import json
import time
from typing import TYPE_CHECKING, Any

import headwater
from headwater.config import NOT_EMPTY, ConfigDef, ConfigType, Definitions, Importance, at_least
from headwater.connect.connectors.connector import (
    ConnectorError,
    ConnectorType,
    FieldError,
    SourceRows,
)
from headwater.connect.data.shape import Shape
from headwater.connect.data.spark_types import schema_of
from headwater.connect.data.sql_text import text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.config import Values
    from headwater.connect.connectors.connector import (
        ConnectorContext,
        SinkBatch,
        SinkPlugin,
        SourcePlugin,
        TopicPartition,
    )

_OWN = "config."


def python_plugin(class_name: str) -> SourcePlugin | SinkPlugin:
    """Return the plug-in for a class named `package.module:Class`; raises ConnectorError."""
    module_name, _, name = class_name.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as failure:
        raise ConnectorError(
            f"{class_name} cannot be imported: {failure}; it is looked for where Python looks, "
            "which PYTHONPATH extends"
        ) from failure
    if callable(getattr(found, "read", None)):
        return PythonSourcePlugin(class_name, found)
    if callable(getattr(found, "write", None)):
        return PythonSinkPlugin(class_name, found)
    raise ConnectorError(f"{class_name} has neither a method read(offset) nor write(rows)")


class PythonSourcePlugin:
    """Reads from whatever a class of the user's reads from."""

    type = ConnectorType.SOURCE
    version = headwater.__version__
    definitions = Definitions(
        "PythonSource",
        ConfigDef(
            "topic",
            ConfigType.STRING,
            None,
            "The topic to write to.",
            NOT_EMPTY,
            importance=Importance.HIGH,
        ),
        ConfigDef(
            "poll.interval.ms",
            ConfigType.INT,
            1000,
            "How long to wait before `read` is called again after it had nothing.",
            at_least(1),
        ),
        open_prefixes=(_OWN,),
    )

    def __init__(self, class_name: str, of: Any) -> None:
        self.class_names = (class_name,)
        self._class = of

    def check(self, config: Values) -> list[FieldError]:
        """The topic has to be given."""
        if config.text("topic") is None:
            return [FieldError("topic", "a topic is needed, such as readings")]
        return []

    def open(self, config: Values, context: ConnectorContext) -> PythonSource:
        """Return a source with an object of the class."""
        if errors := self.check(config):
            raise ConnectorError(errors[0].message)
        return PythonSource(self._class(_own(context)), self.class_names[0], config, context)


class PythonSource:
    """Calls `read` with the last offset; rows are dicts, texts, bytes, or an Arrow table."""

    def __init__(
        self, reader: Any, class_name: str, config: Values, context: ConnectorContext
    ) -> None:
        self._reader = reader
        self._topic = config.text("topic") or ""
        self._wait_s = config.integer("poll.interval.ms") / 1000
        self._context = context
        self._partition = {"class": class_name}
        self._offset = context.stored_offset(self._partition)
        self._next_poll = 0.0

    def poll(self) -> Sequence[SourceRows]:
        """Return what `read` has found."""
        rows, offset = self._reader.read(self._offset)
        if len(rows) == 0:
            self._next_poll = time.monotonic() + self._wait_s
            return ()
        self._offset = offset
        frame = self._context.session.createDataFrame(_table(rows)).coalesce(1)
        value = "struct(*)" if frame.columns != ["value"] else "value"
        frame = frame.selectExpr(f"{value} AS value").selectExpr(
            f"{text(self._topic)} AS topic", "*"
        )
        shape = Shape(value=schema_of(frame.schema["value"].dataType.json()))
        return [SourceRows(frame, shape, ((self._partition, offset),))]

    def next_poll_s(self) -> float:
        """Return 0 after rows were found."""
        return max(0.0, self._next_poll - time.monotonic())

    def committed(self) -> None:
        """Tell the reader, if it wants to know."""
        told = getattr(self._reader, "committed", None)
        if told is not None:
            told(self._offset)

    def close(self) -> None:
        """Close the reader, if it can be closed."""
        _close(self._reader)


class PythonSinkPlugin:
    """Writes to whatever a class of the user's writes to."""

    type = ConnectorType.SINK
    version = headwater.__version__
    definitions = Definitions("PythonSink", open_prefixes=(_OWN,))

    def __init__(self, class_name: str, of: Any) -> None:
        self.class_names = (class_name,)
        self._class = of

    def check(self, config: Values) -> list[FieldError]:
        """Return nothing: the class alone knows."""
        del config
        return []

    def open(self, config: Values, context: ConnectorContext) -> PythonSink:
        """Return a sink with an object of the class."""
        del config
        return PythonSink(self._class(_own(context)))


class PythonSink:
    """Calls `write` with the records of each batch, as dicts; they come again after a crash."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def write(self, batch: SinkBatch) -> None:
        """Hand over records: topic, partition, offset, timestamp, headers, key and value."""
        texts = {
            side
            for side in ("key", "value")
            if batch.frame.schema[side].dataType.typeName() == "variant"
        }
        sides = [
            f"to_json({side}) AS {side}" if side in texts else side for side in ("key", "value")
        ]
        place = (f"_{name} AS {name}" for name in ("topic", "partition", "offset"))
        rows = batch.frame.selectExpr(*place, "timestamp", "headers", *sides).toArrow().to_pylist()
        for row in rows:
            row |= {side: None if row[side] is None else json.loads(row[side]) for side in texts}
        self._writer.write(rows)

    def moved_to(self, positions: Mapping[TopicPartition, int]) -> None:
        """Do nothing: it remembers no positions."""

    def close(self) -> None:
        """Close the writer, if it can be closed."""
        _close(self._writer)


def _own(context: ConnectorContext) -> dict[str, str]:
    return {
        name.removeprefix(_OWN): value
        for name, value in context.properties.items()
        if name.startswith(_OWN)
    }


def _table(rows: Any) -> Any:
    import pyarrow as pa

    if isinstance(rows, pa.Table):
        return rows
    listed = list(rows)
    if isinstance(listed[0], dict):
        return pa.Table.from_pylist(listed)
    return pa.table({"value": listed})


def _close(connected: Any) -> None:
    close = getattr(connected, "close", None)
    if close is not None:
        close()
