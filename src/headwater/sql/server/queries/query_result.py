"""The rows of a query on their way to a client."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from headwater.sql.types.sql_type import SqlType


def _nothing_is_open() -> None:
    """Close a result whose rows are there already."""


@dataclass(frozen=True)
class QueryResult:
    """What a client is told first, and batches of rows as they come.

    Whoever has a result closes it, however far its rows were taken and also if none was: a query
    that nobody takes rows from would run on. It may be closed more than once.
    """

    query_id: str
    columns: tuple[tuple[str, SqlType], ...]
    batches: AsyncGenerator[list[list[Any]], None]
    is_push: bool
    limit: int | None = None
    close: Callable[[], None] = _nothing_is_open

    @property
    def names(self) -> list[str]:
        """The columns' names."""
        return [name for name, _ in self.columns]

    @property
    def types(self) -> list[str]:
        """The columns' types, as the language writes them."""
        return [str(type_) for _, type_ in self.columns]

    async def limited(self) -> AsyncGenerator[list[list[Any]], None]:
        """Iterate over batches until there are as many rows as the query wants."""
        left = self.limit
        try:
            async with aclosing(self.batches) as batches:
                if left == 0:
                    return
                async for batch in batches:
                    rows = batch if left is None else batch[:left]
                    if rows:
                        yield rows
                    if left is not None:
                        left -= len(rows)
                        if left <= 0:
                            return
        finally:
            self.close()
