"""Columns of text, numbers and bytes, which have no schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from headwater.serde.arrow.columns import (
    Column,
    ColumnReader,
    ColumnWriter,
    array_of,
    conformed,
)
from headwater.serde.errors import DeserializationError
from headwater.serde.formats.numbers import (
    DoubleDeserializer,
    DoubleSerializer,
    IntegerDeserializer,
    IntegerSerializer,
    LongDeserializer,
    LongSerializer,
)
from headwater.serde.formats.text import (
    BytesDeserializer,
    BytesSerializer,
    StringDeserializer,
    StringSerializer,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from headwater.serde.serializer import Deserializer, Serializer

_FORMATS: dict[str, tuple[pa.DataType, type[Deserializer[Any]], type[Serializer[Any]]]] = {
    "string": (pa.string(), StringDeserializer, StringSerializer),
    "bytes": (pa.binary(), BytesDeserializer, BytesSerializer),
    "int": (pa.int32(), IntegerDeserializer, IntegerSerializer),
    "long": (pa.int64(), LongDeserializer, LongSerializer),
    "double": (pa.float64(), DoubleDeserializer, DoubleSerializer),
}
PLAIN_FORMATS = tuple(_FORMATS)


class PlainReader(ColumnReader):
    """Reads a format by its name."""

    def __init__(self, name: str) -> None:
        self.type, deserializer, _ = _FORMATS[name]
        self._deserialize = deserializer()

    def read(self, payloads: Sequence[bytes]) -> Column:
        """Decode payloads."""
        values = self._deserialize.decode_many(payloads, on_error=lambda malformed: malformed)
        reasons = [
            each.reason if isinstance(each, DeserializationError) else None for each in values
        ]
        sound = [None if reasons[index] else each for index, each in enumerate(values)]
        return array_of(sound, reasons, self.type, self.type)


class PlainWriter(ColumnWriter):
    """Writes a format by its name."""

    def __init__(self, name: str) -> None:
        self.type, _, serializer = _FORMATS[name]
        self._serialize = serializer()

    def write(self, values: pa.Array) -> list[bytes | None]:
        """Encode values."""
        return self._serialize.encode_many(conformed(values, self.type).to_pylist())
