"""A table as its events show it: columns, the key, and the topic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.connect.data.schema import Schema

Row = tuple[Any, ...]
"""A row as the database gave it, with all of its columns."""


class Column(NamedTuple):
    """A column: where it is in a row, what it becomes, and how.

    `absent` stands for a null where the schema takes none, such as MariaDB's date 0000-00-00.
    """

    name: str
    place: int
    schema: Schema
    convert: Callable[[Any], Any] | None = None
    absent: object = None


@dataclass(frozen=True)
class Table:
    """A table at some time: when it is altered, what follows is of another one.

    `owner` is the database or the schema that it is in.
    """

    owner: str
    name: str
    topic: str
    columns: tuple[Column, ...]
    key: tuple[Column, ...]

    def __str__(self) -> str:
        return f"{self.owner}.{self.name}"

    def key_of(self, row: Row) -> tuple[Any, ...]:
        """Return the values of a row's primary key, as the database gave them."""
        return tuple(row[column.place] for column in self.key)
