"""Numbers and truth values, as Kafka's serialisers write them: of a fixed size, big end first."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it
from pyspark.sql.avro.functions import from_avro, to_avro

from headwater.config import Definitions
from headwater.connect.converters.converter import Decoded
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.spark_types import ddl
from headwater.spark.formats.plain import decode_plain, encode_plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column, DataFrame

_AVRO_FLOAT = '"float"'
_FLOAT_SIZE = 4


@dataclass(frozen=True)
class _FixedSize(ABC):
    """A value of one type, in so many bytes."""

    type: ClassVar[Type]
    size: ClassVar[int]
    definitions: ClassVar[Definitions] = Definitions("converter", open_prefixes=("",))
    needs_topics: ClassVar[bool] = False

    @classmethod
    def configured(cls, config: Mapping[str, str], *, is_key: bool) -> Self:
        """Make one: there is nothing to set."""
        del config, is_key
        return cls()

    def to_bytes(self, value: Column, schema: Schema | None, topics: Sequence[str] = ()) -> Column:
        """Return the bytes; raises TypeError for a schema of another type, as Connect does."""
        del topics
        if schema is not None and (schema.type is not self.type or schema.logical):
            found = schema.logical or schema.type.value
            raise TypeError(f"{type(self).__name__} takes {self.type.value}, this is {found}")
        return self._encoded(value.cast(ddl(Schema(self.type))))

    def from_bytes(self, frame: DataFrame, column: str, topic: str) -> Decoded:
        """Return the values; bytes of another size are none."""
        del topic
        data = frame[column]
        is_well = F.length(data) == self.size
        message = F.concat(
            F.lit(f"Size of data received by {type(self).__name__} is not {self.size}: "),
            F.length(data).cast("string"),
        )
        value = F.when(is_well, self._decoded(data))
        return Decoded(value, Schema(self.type, optional=True), F.when(~is_well, message))

    @abstractmethod
    def _encoded(self, value: Column) -> Column:
        """Return the bytes of values of the type."""

    @abstractmethod
    def _decoded(self, data: Column) -> Column:
        """Return the values in bytes of the size."""


class ShortConverter(_FixedSize):
    """Whole numbers of two bytes."""

    type, size = Type.INT16, 2

    def _encoded(self, value: Column) -> Column:
        return encode_plain("int", value.cast("int")).substr(3, 2)

    def _decoded(self, data: Column) -> Column:
        wide = F.conv(F.hex(data), 16, 10).cast("int")
        return (wide - F.when(wide >= 1 << 15, 1 << 16).otherwise(0)).cast("smallint")


class IntegerConverter(_FixedSize):
    """Whole numbers of four bytes."""

    type, size = Type.INT32, 4

    def _encoded(self, value: Column) -> Column:
        return encode_plain("int", value)

    def _decoded(self, data: Column) -> Column:
        return decode_plain("int", data)


class LongConverter(_FixedSize):
    """Whole numbers of eight bytes."""

    type, size = Type.INT64, 8

    def _encoded(self, value: Column) -> Column:
        return encode_plain("long", value)

    def _decoded(self, data: Column) -> Column:
        return decode_plain("long", data)


class FloatConverter(_FixedSize):
    """Floating-point numbers of four bytes: Avro's, whose bytes are in reverse."""

    type, size = Type.FLOAT32, _FLOAT_SIZE

    def _encoded(self, value: Column) -> Column:
        return _reversed(to_avro(value, _AVRO_FLOAT))

    def _decoded(self, data: Column) -> Column:
        return from_avro(_reversed(data), _AVRO_FLOAT)


class DoubleConverter(_FixedSize):
    """Floating-point numbers of eight bytes."""

    type, size = Type.FLOAT64, 8

    def _encoded(self, value: Column) -> Column:
        return encode_plain("double", value)

    def _decoded(self, data: Column) -> Column:
        return decode_plain("double", data)


class BooleanConverter(_FixedSize):
    """Truth values of one byte."""

    type, size = Type.BOOLEAN, 1

    def _encoded(self, value: Column) -> Column:
        return F.when(value, F.lit(b"\1")).when(~value, F.lit(b"\0"))

    def _decoded(self, data: Column) -> Column:
        return data == F.lit(b"\1")


def _reversed(data: Column) -> Column:
    return F.concat(*(data.substr(position, 1) for position in range(_FLOAT_SIZE, 0, -1)))
