"""The rows of a query on their way to a client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from headwater.sql.types.sql_type import SqlType


@dataclass(frozen=True)
class QueryResult:
    """What a client is told first, and batches of rows as they come."""

    query_id: str
    columns: tuple[tuple[str, SqlType], ...]
    batches: AsyncIterator[list[list[Any]]]
    is_push: bool
    limit: int | None = None

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
            if left == 0:
                return
            async for batch in self.batches:
                rows = batch if left is None else batch[:left]
                if rows:
                    yield rows
                if left is not None:
                    left -= len(rows)
                    if left <= 0:
                        return
        finally:
            close = getattr(self.batches, "aclose", None)
            if close is not None:
                await close()
