"""Tables and their columns, as a database describes them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TableId:
    """A table's full name; a database has a catalog, a schema, both or neither.

    >>> str(TableId("shop", None, "orders"))
    'shop.orders'
    """

    catalog: str | None
    schema: str | None
    name: str

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that there are, the name last."""
        return tuple(part for part in (self.catalog, self.schema, self.name) if part)

    def __str__(self) -> str:
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a query's result; `jdbc_type` is one of java.sql.Types."""

    name: str
    jdbc_type: int
    type_name: str
    precision: int
    scale: int
    is_signed: bool
    is_nullable: bool
    is_counted: bool
