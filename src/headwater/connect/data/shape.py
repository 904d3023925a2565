"""What the key and the value of a batch's records are, and how headers are written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from headwater.connect.data.header_format import TEXT_HEADERS

if TYPE_CHECKING:
    from headwater.connect.data.header_format import HeaderFormat
    from headwater.connect.data.schema import Schema


@dataclass(frozen=True)
class Shape:
    """The schemas of a batch's keys and values.

    None is schemaless: the column is a VARIANT, or what can be cast to one (text, bytes, a
    number, nothing at all).
    """

    key: Schema | None = None
    value: Schema | None = None
    headers: HeaderFormat = TEXT_HEADERS
    """How headers are written that are added."""

    def of(self, side: str) -> Schema | None:
        """Return the schema of the side, `key` or `value`."""
        return self.key if side == "key" else self.value

    def with_side(self, side: str, schema: Schema | None) -> Shape:
        """Return a shape with another schema on that side."""
        return replace(self, key=schema) if side == "key" else replace(self, value=schema)
