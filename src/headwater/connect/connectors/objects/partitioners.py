"""Partitioners: the folders that records go to, by partition, field or time, as Confluent's do.

They are expressions of Spark, so that a record's folder is known before it leaves the JVM.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from headwater.connect.connectors.connector import FieldError
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column

    from headwater.config import Values

_HOUR_MS = 3_600_000
_DAY = "'year'=YYYY/'month'=MM/'day'=dd"
_KNOWN = set("GyMdDEahHkKmsSz")
"""The letters of a path that mean the same to Joda, which Confluent uses, and to Spark."""


class Partitioner(Protocol):
    """Says which folder a record goes to, below its topic's."""

    def folder(self, schema: Schema | None) -> Column:
        """Return the folder, for values of this schema."""
        ...


class DefaultPartitioner:
    """A folder for each partition of the topic."""

    def __init__(self, config: Values) -> None:
        self._delimiter = config.text("directory.delim") or ""

    @staticmethod
    def check(config: Values) -> list[FieldError]:
        """Return nothing: it has no properties."""
        del config
        return []

    def folder(self, schema: Schema | None) -> Column:
        """Return `partition=0`."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        del schema
        return F.concat(F.lit("partition="), F.col("_partition").cast("string"))


class FieldPartitioner:
    """A folder for each value of some fields."""

    def __init__(self, config: Values) -> None:
        self._names = config.words("partition.field.name")
        self._delimiter = config.text("directory.delim") or ""

    @staticmethod
    def check(config: Values) -> list[FieldError]:
        """The fields have to be named."""
        if config.words("partition.field.name"):
            return []
        return [FieldError("partition.field.name", "FieldPartitioner needs fields, such as region")]

    def folder(self, schema: Schema | None) -> Column:
        """Return `field=value` of each."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        parts = [
            F.concat(
                F.lit(f"{name}="),
                # A value is one folder, whatever is in it, and leads to no other.
                F.replace(_field_text(name, schema), F.lit("/"), F.lit("%2F")),
            )
            for name in self._names
        ]
        return F.concat_ws(self._delimiter, *parts)


class TimeBasedPartitioner:
    """A folder for each span of time."""

    def __init__(self, config: Values) -> None:
        self._config = config
        self._zone = config.text("timezone") or ""

    @staticmethod
    def check(config: Values) -> list[FieldError]:
        """The span and the folder's name have to be given."""
        errors = []
        if config.integer("partition.duration.ms") < 1:
            errors.append(
                FieldError("partition.duration.ms", f"give one, such as {_HOUR_MS} for an hour")
            )
        path = config.text("path.format") or ""
        if not path:
            errors.append(FieldError("path.format", f"give one, such as {_DAY}"))
        try:
            spark_pattern(path)
        except ValueError as failure:
            errors.append(FieldError("path.format", str(failure)))
        return errors

    @property
    def duration_ms(self) -> int:
        """How much time goes into one folder."""
        return self._config.integer("partition.duration.ms")

    @property
    def path(self) -> str:
        """The folder's name, as Joda has it."""
        return self._config.text("path.format") or ""

    def folder(self, schema: Schema | None) -> Column:
        """Return the folder of a record's time."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        local = F.unix_millis(
            F.from_utc_timestamp(F.timestamp_millis(record_time(self._config, schema)), self._zone)
        )
        begin = F.floor(local / self.duration_ms) * self.duration_ms
        return F.date_format(F.timestamp_millis(begin), spark_pattern(self.path))


class DailyPartitioner(TimeBasedPartitioner):
    """A folder for each day."""

    duration_ms = 24 * _HOUR_MS
    path = _DAY

    @staticmethod
    def check(config: Values) -> list[FieldError]:
        """Return nothing: all is given."""
        del config
        return []


class HourlyPartitioner(DailyPartitioner):
    """A folder for each hour."""

    duration_ms = _HOUR_MS
    path = f"{_DAY}/'hour'=HH"


PARTITIONERS: Mapping[str, type[DefaultPartitioner | FieldPartitioner | TimeBasedPartitioner]] = {
    each.__name__: each
    for each in (
        DefaultPartitioner,
        FieldPartitioner,
        TimeBasedPartitioner,
        DailyPartitioner,
        HourlyPartitioner,
    )
}


def partitioner_class(
    name: str,
) -> type[DefaultPartitioner | FieldPartitioner | TimeBasedPartitioner]:
    """Return the partitioner of a class name; raises ValueError."""
    found = PARTITIONERS.get(name.rpartition(".")[2])
    if found is None:
        raise ValueError(f"there is no such partitioner; there are {', '.join(PARTITIONERS)}")
    return found


def spark_pattern(path: str) -> str:
    """Return a path of Joda's letters with Spark's; raises ValueError for one that has none.

    >>> spark_pattern("'year'=YYYY/'day'=dd")
    "'year='yyyy/'day='dd"
    """
    parts = []
    for found in re.finditer(r"'[^']*'|[A-Za-z]+|[^A-Za-z']+|'", path):
        part = found[0]
        if part == "'":
            raise ValueError(f"{path} has a quote that is not closed")
        if part.startswith("'"):
            parts.append(part)
        elif part[0].isalpha():
            letters = part.replace("Y", "y")
            if wrong := sorted(set(letters) - _KNOWN):
                raise ValueError(f"{path} has {wrong[0]}, which is not known here; quote text")
            parts.append(letters)
        else:
            parts.append("".join(each if each in "/-_.: " else f"'{each}'" for each in part))
    return "".join(parts).replace("''", "")


def record_time(config: Values, schema: Schema | None) -> Column:
    """Return a record's time in milliseconds, as `timestamp.extractor` says."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    match config.text("timestamp.extractor"):
        case "Record":
            return F.unix_millis(F.col("timestamp"))
        case "RecordField":
            name = config.text("timestamp.field") or ""
            found = _field_time(name, schema)
            missing = F.raise_error(
                F.concat(_place(), F.lit(f" has no time in {name}, which timestamp.field names"))
            )
            return F.coalesce(found, missing.cast("bigint"))
    return F.unix_millis(F.current_timestamp())


def _field_text(name: str, schema: Schema | None) -> Column:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    from headwater.connect.converters.java_text import java_text

    if schema is None:
        text = F.try_variant_get(F.col("value").cast("variant"), f"$.{name}", "string")
    else:
        column, of = _field(name, schema)
        text = java_text(column, of)
    missing = F.raise_error(
        F.concat(_place(), F.lit(f" has no {name}, which partition.field.name names"))
    )
    return F.coalesce(text, missing.cast("string"))


def _field_time(name: str, schema: Schema | None) -> Column:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    if schema is None:
        value = F.col("value").cast("variant")
        time = F.unix_millis(F.try_variant_get(value, f"$.{name}", "timestamp"))
        number = F.try_variant_get(value, f"$.{name}", "bigint")
        is_number = F.schema_of_variant(F.try_variant_get(value, f"$.{name}", "variant")) == F.lit(
            "BIGINT"
        )
        return F.when(is_number, number).otherwise(time)
    column, of = _field(name, schema)
    if of.logical == connect.TIMESTAMP:
        return F.unix_millis(column)
    if of.type in (Type.INT32, Type.INT64) and of.logical is None:
        return column.cast("bigint")
    return F.unix_millis(F.try_to_timestamp(column.cast("string")))


def _field(name: str, schema: Schema) -> tuple[Column, Schema]:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    column, of = F.col("value"), schema
    for part in name.split("."):
        found = of.field(part)
        if found is None:
            return F.lit(None).cast("string"), Schema(Type.STRING, optional=True)
        column, of = column.getField(part), found.schema
    return column, of


def _place() -> Column:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    return F.format_string("%s [%d] offset %d", "_topic", "_partition", "_offset")
