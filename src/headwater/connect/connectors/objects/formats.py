"""Formats: how values become a file, by the names of Confluent's classes.

Spark makes JSON and Avro of the values in its tasks; Parquet is made of Arrow's columns as they
come. What arrives here are columns, and files are written batch by batch.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, cast

from headwater.connect.connectors.connector import ConnectorError
from headwater.connect.connectors.objects.avro_container import AvroContainer
from headwater.connect.data.schema import Schema, Type

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from pyspark.sql import Column

    from headwater.config import Values

_JSON_CONVERTER = "org.apache.kafka.connect.json.JsonConverter"


class Encoder(Protocol):
    """Writes the values of one file."""

    def write(self, values: pa.ChunkedArray) -> None:
        """Write what `Format.column` made of some values."""
        ...

    def finish(self) -> None:
        """Write what a file ends with; the file stays open."""
        ...


class Format(Protocol):
    """How values of one schema are written."""

    extension: str

    def column(self) -> Column:
        """Return what Spark makes of the column `value`."""
        ...

    def encoder(self, file: BinaryIO) -> Encoder:
        """Return what writes a file."""
        ...


class JsonFormat:
    """A line of JSON for each record."""

    def __init__(self, config: Values, schema: Schema | None) -> None:
        self._schema = schema
        self._config = config
        self.extension = f".json{_gz(config)}"

    def column(self) -> Column:
        """Return JSON as JsonConverter writes it without schemas, with the end of its line."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        from headwater.connect.converters.converter import converter_for

        converter = converter_for(_JSON_CONVERTER, {"schemas.enable": "false"}, is_key=False)
        text = converter.to_bytes(F.col("value"), self._schema).cast("string")
        return F.concat(text, F.lit("\n")).cast("binary")

    def encoder(self, file: BinaryIO) -> Encoder:
        """Return what writes lines."""
        return _Bytes(file, self._config)


class ByteArrayFormat:
    """The bytes of the values, one after the other."""

    def __init__(self, config: Values, schema: Schema | None) -> None:
        if schema is None or schema.type is not Type.BYTES or schema.logical is not None:
            raise ConnectorError(
                "format.class: ByteArrayFormat writes bytes; give value.converter="
                "org.apache.kafka.connect.converters.ByteArrayConverter"
            )
        self._config = config
        self.extension = f"{config.text('format.bytearray.extension') or ''}{_gz(config)}"

    def column(self) -> Column:
        """Return the bytes with what separates them."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        separator = (self._config.text("format.bytearray.separator") or "").encode()
        return F.concat(F.col("value"), F.lit(separator))

    def encoder(self, file: BinaryIO) -> Encoder:
        """Return what writes bytes."""
        return _Bytes(file, self._config)


class AvroFormat:
    """An Avro file, with its schema in it."""

    def __init__(self, config: Values, schema: Schema | None) -> None:
        if schema is None:
            raise _needs_schema("AvroFormat")
        self._schema = replace(schema, optional=False)
        self._codec = config.text("avro.codec") or ""
        self.extension = ".avro"

    def column(self) -> Column:
        """Return each value as Avro writes it."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
        from pyspark.sql.avro.functions import to_avro

        from headwater.connect.converters.avro_schemas import as_avro

        return to_avro(F.col("value"), json.dumps(as_avro(self._schema, marks=False)))

    def encoder(self, file: BinaryIO) -> Encoder:
        """Return what writes blocks of values."""
        from headwater.connect.converters.avro_schemas import as_avro

        return AvroContainer(file, json.dumps(as_avro(self._schema)), self._codec)


class ParquetFormat:
    """A Parquet file, with the fields of the values as its columns."""

    def __init__(self, config: Values, schema: Schema | None) -> None:
        if schema is None:
            raise _needs_schema("ParquetFormat")
        if schema.type is not Type.STRUCT:
            raise ConnectorError(
                "format.class: ParquetFormat writes the fields of structs, and the values are "
                f"{schema.type}; the transform HoistField makes a struct of each"
            )
        self._codec = config.text("parquet.codec") or ""
        self._part_size = config.integer("s3.part.size")
        suffix = {"none": "", "gzip": ".gz"}.get(self._codec, f".{self._codec}")
        self.extension = f"{suffix}.parquet"

    def column(self) -> Column:
        """Return the value as it is."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        return F.col("value")

    def encoder(self, file: BinaryIO) -> Encoder:
        """Return what writes groups of rows."""
        return _Parquet(file, self._codec, self._part_size)


FORMATS: Mapping[str, type[JsonFormat | AvroFormat | ParquetFormat | ByteArrayFormat]] = {
    "json.JsonFormat": JsonFormat,
    "avro.AvroFormat": AvroFormat,
    "parquet.ParquetFormat": ParquetFormat,
    "bytearray.ByteArrayFormat": ByteArrayFormat,
}


def format_class(name: str) -> type[JsonFormat | AvroFormat | ParquetFormat | ByteArrayFormat]:
    """Return the format of a class name; raises ValueError."""
    last = name.rpartition(".")[2]
    for known, found in FORMATS.items():
        if known.rpartition(".")[2] == last:
            return found
    there = ", ".join(f"io.confluent.connect.s3.format.{known}" for known in FORMATS)
    raise ValueError(f"there is no such format; there are {there}")


class _Bytes:
    """Values one after the other, compressed if that is wanted."""

    def __init__(self, file: BinaryIO, config: Values) -> None:
        self._compressed: gzip.GzipFile | None = None
        if config.text("s3.compression.type") == "gzip":
            level = config.integer("s3.compression.level")
            # Without a name and a time, the same records are the same bytes.
            self._compressed = gzip.GzipFile("", "wb", 6 if level < 0 else level, file, mtime=0)
        self._file = cast("BinaryIO", self._compressed) if self._compressed is not None else file

    def write(self, values: pa.ChunkedArray) -> None:
        """Write the values."""
        for chunk in values.chunks:
            self._file.write(b"".join(chunk.to_pylist()))

    def finish(self) -> None:
        """End what gzip writes."""
        if self._compressed is not None:
            self._compressed.close()


class _Parquet:
    """Groups of rows, each as large as a part of an upload."""

    def __init__(self, file: BinaryIO, codec: str, group_size: int) -> None:
        self._file = file
        self._codec = codec
        self._group_size = group_size
        self._rows: list[pa.Table] = []
        self._size = 0
        self._writer: Any = None

    def write(self, values: pa.ChunkedArray) -> None:
        """Keep rows until there are enough for a group."""
        import pyarrow as pa

        names = [field.name for field in values.type]
        columns = values.flatten()
        table = pa.Table.from_arrays(columns, names=names)
        self._rows.append(table)
        self._size += table.nbytes
        if self._size >= self._group_size:
            self._write_group()

    def finish(self) -> None:
        """Write the last rows, and what the file ends with."""
        self._write_group()
        self._writer.close()

    def _write_group(self) -> None:
        if not self._rows:
            return
        import pyarrow as pa
        from pyarrow import parquet

        table = pa.concat_tables(self._rows)
        if self._writer is None:
            self._writer = parquet.ParquetWriter(
                self._file, table.schema, compression=self._codec, version="2.6",
                coerce_timestamps="ms", allow_truncated_timestamps=True,
            )  # fmt: skip
        self._writer.write_table(table)
        self._rows, self._size = [], 0


def _gz(config: Values) -> str:
    return ".gz" if config.text("s3.compression.type") == "gzip" else ""


def _needs_schema(name: str) -> ConnectorError:
    return ConnectorError(
        f"format.class: {name} writes values with a schema, and these have none; give a "
        "value.converter that has schemas, such as io.confluent.connect.avro.AvroConverter or "
        "JsonConverter with schemas.enable=true, or write JsonFormat"
    )
