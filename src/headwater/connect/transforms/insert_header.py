"""InsertHeader: a header that is the same for all records."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from headwater.config import ConfigType
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.spark_types import ddl
from headwater.connect.data.sql_text import text
from headwater.connect.transforms.headers import header_bytes, with_headers
from headwater.connect.transforms.settings import PACKAGE, given_text, required, settings
from headwater.connect.transforms.transform import Step

if TYPE_CHECKING:
    from headwater.config import Definitions, Values
    from headwater.connect.data.shape import Shape


@dataclass(frozen=True)
class InsertHeader:
    """Adds a header, also where there is one of that name."""

    header: str
    literal: str

    class_names: ClassVar[tuple[str, ...]] = (f"{PACKAGE}.InsertHeader",)
    doc: ClassVar[str] = "Adds a header with a fixed value to each record."
    definitions: ClassVar[Definitions] = settings(
        required("header", ConfigType.STRING, "The header's name."),
        required("value.literal", ConfigType.STRING, "The header's value."),
    )

    @classmethod
    def configured(cls, class_name: str, values: Values) -> Self:
        """Take the name and the value."""
        del class_name
        return cls(given_text(values, "header"), given_text(values, "value.literal"))

    def compile(self, shape: Shape) -> tuple[Step, Shape]:
        """Return the headers and the new one."""
        schema = literal_schema(self.literal)
        value = f"cast({text(self.literal)} as {ddl(schema)})"
        written = header_bytes(value, schema, shape.headers)
        return Step({"headers": with_headers([(self.header, written)])}), shape


def literal_schema(literal: str) -> Schema:
    """Return what Connect takes a text for that stands for a value.

    >>> [literal_schema(each).type.value for each in ("7", "300", "1.5", "true", "a")]
    ['int8', 'int16', 'float', 'boolean', 'string']
    """
    if literal in ("true", "false"):
        return Schema(Type.BOOLEAN)
    # Only what is written again as it was: 007 stays text.
    if re.fullmatch(r"-?[1-9]\d*|0", literal):
        for type_, bits in _WHOLE.items():
            if -(1 << bits - 1) <= int(literal) < 1 << bits - 1:
                return Schema(type_)
    if re.fullmatch(r"-?(0|[1-9]\d{0,4})\.\d?[1-9]", literal):
        return Schema(Type.FLOAT32)
    return Schema(Type.STRING)


_WHOLE = {Type.INT8: 8, Type.INT16: 16, Type.INT32: 32, Type.INT64: 64}
