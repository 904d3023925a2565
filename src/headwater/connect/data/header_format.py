"""How the values of headers are written: what a `header.converter` is to transforms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from headwater.connect.data.schema import Schema


class HeaderFormat(Protocol):
    """Makes bytes of a header's value when a transform adds it, while its type is known."""

    def to_bytes(self, value: str, shown: str, schema: Schema | None) -> str:
        """Return the bytes of a value, given as SQL itself and as text; without one, a VARIANT.

        Raises ValueError for a schema that it cannot write.
        """
        ...


@dataclass(frozen=True)
class TextHeaders:
    """Values as text, which is what SimpleHeaderConverter and StringConverter write."""

    def to_bytes(self, value: str, shown: str, schema: Schema | None) -> str:
        """Return the text's bytes."""
        del value, schema
        return f"cast({shown} as binary)"


TEXT_HEADERS = TextHeaders()
