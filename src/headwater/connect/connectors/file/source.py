"""The FileStream source: each line that is added to a file becomes a record."""

from __future__ import annotations

import logging
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import headwater
from headwater.config import NOT_EMPTY, ConfigDef, ConfigType, Definitions, Importance, at_least
from headwater.connect.connectors.connector import (
    ConnectorError,
    ConnectorType,
    FieldError,
    RetriableError,
    SourceRows,
)
from headwater.connect.connectors.file.lines import complete_length, complete_lines
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from headwater.config import Values
    from headwater.connect.connectors.connector import ConnectorContext

_LOGGER = logging.getLogger(__name__)
_WAIT_S = 1.0
_MOST_BYTES = 32 << 20
# Where a JVM on the same machine finds files that are open here; not every system has it.
_PROCESSES = Path("/proc")
_SHAPE = Shape(key=None, value=Schema(Type.STRING))


class FileStreamSourcePlugin:
    """Reads a file line by line."""

    class_names = (
        "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "FileStreamSourceConnector",
        "FileStreamSource",
    )
    type = ConnectorType.SOURCE
    version = headwater.__version__
    definitions = Definitions(
        "FileStreamSource",
        ConfigDef(
            "file",
            ConfigType.STRING,
            None,
            "The file to read, on the worker's machine. It may appear later, grow and be rotated.",
            NOT_EMPTY,
            importance=Importance.HIGH,
        ),
        ConfigDef(
            "topic",
            ConfigType.STRING,
            None,
            "The topic to write to.",
            NOT_EMPTY,
            importance=Importance.HIGH,
        ),
        ConfigDef(
            "batch.size",
            ConfigType.INT,
            500_000,
            "How many lines are read at most before they are written, in one transaction.",
            at_least(1),
            importance=Importance.LOW,
        ),
    )

    def check(self, config: Values) -> list[FieldError]:
        """Both the file and the topic have to be given."""
        return [
            FieldError(name, f"a {name} is needed, such as {example}")
            for name, example in (("file", "/var/log/app.log"), ("topic", "app-log"))
            if config.text(name) is None
        ]

    def open(self, config: Values, context: ConnectorContext) -> FileStreamSource:
        """Return a source that goes on at the stored position."""
        file, topic = config.text("file"), config.text("topic")
        if not file or not topic:
            raise ConnectorError("; ".join(error.message for error in self.check(config)))
        return FileStreamSource(Path(file), topic, config.integer("batch.size"), context)


class _Read(NamedTuple):
    """Complete lines from a position on."""

    position: int
    length: int
    frame: DataFrame | None
    has_more: bool


class FileStreamSource:
    """Lines of one file, from a position on. A line is read when its newline is there."""

    def __init__(self, path: Path, topic: str, most_lines: int, context: ConnectorContext) -> None:
        self._path = path
        self._topic = topic
        self._most_lines = most_lines
        self._context = context
        self._partition = {"filename": str(path)}
        self._file: BinaryIO | None = None
        self._position = self._stored_position()
        self._has_more = False
        self._reader = ThreadPoolExecutor(1, "file-reader")
        self._ahead: Future[_Read] | None = None

    def poll(self) -> Sequence[SourceRows]:
        """Return the lines that were completed since the last poll."""
        self._follow()
        if self._file is None:
            return ()
        is_rotated = self._is_rotated()
        read = self._read(self._file)
        self._position += read.length
        frame = read.frame
        if frame is None and is_rotated:
            lines = self._next_file(self._file)
            frame = None if lines is None else self._frame(lines)
        if frame is None:
            return ()
        if self._has_more and self._file is not None:
            # While these are written, the next ones are read.
            self._ahead = self._reader.submit(self._read_lines, self._file, self._position)
        offset = {"position": self._position}
        topics = frozenset([self._topic])
        return [SourceRows(frame, _SHAPE, ((self._partition, offset),), topics)]

    def next_poll_s(self) -> float:
        """Return 0 while there is more in the file."""
        return 0.0 if self._has_more else _WAIT_S

    def committed(self) -> None:
        """Do nothing: the position moves on with each poll."""

    def close(self) -> None:
        """Close the file."""
        self._reader.shutdown(cancel_futures=True)
        self._close_file()

    def _stored_position(self) -> int:
        stored = (self._context.stored_offset(self._partition) or {}).get("position", 0)
        if not isinstance(stored, int) or stored < 0:
            raise ConnectorError(
                f"the stored offset of {self._path} has the position {stored!r}, which is no "
                'number of bytes; set it with {"position": 0}'
            )
        return stored

    def _follow(self) -> None:
        if self._file is None:
            try:
                self._file = self._path.open("rb")
            except FileNotFoundError:
                return  # it is waited for, as Kafka's connector does
            except OSError as failure:
                raise RetriableError(f"{self._path} cannot be read: {failure.strerror}") from None
        size = os.fstat(self._file.fileno()).st_size
        if size < self._position:
            _LOGGER.warning(
                "%s has %d bytes and was read up to %d: it was truncated, and is read from its "
                "beginning",
                self._path,
                size,
                self._position,
            )
            self._position = 0

    def _read(self, file: BinaryIO) -> _Read:
        ahead, self._ahead = self._ahead, None
        read = None if ahead is None else ahead.result()
        # It may have been truncated since; and what it was given since belongs to this look.
        if read is None or read.position != self._position or read.frame is None:
            read = self._read_lines(file, self._position)
        self._has_more = read.has_more
        return read

    def _read_lines(self, file: BinaryIO, position: int) -> _Read:
        file.seek(position)
        chunk = file.read(_MOST_BYTES)
        end = chunk.rfind(b"\n") + 1
        if not end and len(chunk) == _MOST_BYTES:
            raise ConnectorError(
                f"{self._path} has a line of more than {_MOST_BYTES >> 20} MiB at {position}"
            )
        length = complete_length(chunk, self._most_lines)
        has_more = length > 0 and (length < end or len(chunk) == _MOST_BYTES)
        frame = self._part(file, position, chunk, length) if length else None
        return _Read(position, length, frame, has_more)

    def _is_rotated(self) -> bool:
        assert self._file is not None
        try:
            there = self._path.stat()
        except FileNotFoundError:
            return False  # the new one is not there yet, and the old one may still grow
        mine = os.fstat(self._file.fileno())
        return (there.st_ino, there.st_dev) != (mine.st_ino, mine.st_dev)

    def _next_file(self, last: BinaryIO) -> pa.Array | None:
        """Begin with the new file; returns the last line of the old one, if it has no newline."""
        _LOGGER.info("%s is a new file, which is read from its beginning", self._path)
        last.seek(self._position)
        rest = last.read(_MOST_BYTES)
        self._close_file()
        self._position = 0
        self._has_more = True
        return complete_lines(rest + b"\n", 1)[0] if rest else None

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _part(self, file: BinaryIO, position: int, chunk: bytes, length: int) -> DataFrame:
        """Return the lines of a part of the file, of which a chunk was read."""
        from headwater.spark.session import is_local

        session = self._context.session
        if not ((_PROCESSES / "self" / "fd").is_dir() and is_local(session)):
            lines, _ = complete_lines(chunk, self._most_lines)
            assert lines is not None
            return self._frame(lines)
        from pyspark.sql import DataFrame
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        # The one that is open here, whatever has its name when a task reads it.
        path = str(_PROCESSES / str(os.getpid()) / "fd" / str(file.fileno()))
        jvm: Any = session.sparkContext._jvm  # noqa: SLF001 - PySpark has no other door
        reader = jvm.io.headwater.files.LineReader(path, position, length)
        rows = DataFrame(reader.read(session._jsparkSession), session)  # noqa: SLF001
        return rows.select(
            F.lit(self._topic).alias("topic"),
            F.make_valid_utf8(F.col("value").cast("string")).alias("value"),
        )

    def _frame(self, lines: pa.Array) -> DataFrame:
        import pyarrow as pa
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        rows = self._context.session.createDataFrame(pa.table({"value": lines}))
        # In one partition: lines stay in their order, as they do with Kafka's connector.
        return rows.withColumn("topic", F.lit(self._topic)).coalesce(1)
