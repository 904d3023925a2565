"""Rows as they are streamed: ksqlDB's three ways to write them."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Protocol

from headwater.sql.server.rows.shown import encoded

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from headwater.sql.server.queries.query_result import QueryResult

DELIMITED = "application/vnd.ksqlapi.delimited.v1"
KSQL_V1 = "application/vnd.ksql.v1+json"
JSON = "application/json"


class RowFormat(Protocol):
    """One of the ways."""

    content_type: str

    def start(self, result: QueryResult) -> bytes:
        """Return what comes before the rows."""

    def row(self, row: list[Any]) -> bytes:
        """Return a row."""

    def end(self, message: str | None) -> bytes:
        """Return what comes after the rows."""


class DelimitedRows:
    """A line of JSON each: what the columns are, then a list for each row."""

    content_type = DELIMITED

    def start(self, result: QueryResult) -> bytes:
        """Return the line about the columns."""
        return encoded(_metadata(result)) + b"\n"

    def row(self, row: list[Any]) -> bytes:
        """Return a line."""
        return encoded(row) + b"\n"

    def end(self, message: str | None) -> bytes:
        """Return nothing."""
        del message
        return b""


class ListedRows:
    """The same as one JSON array, a line for each element."""

    content_type = JSON

    def start(self, result: QueryResult) -> bytes:
        """Return the element about the columns."""
        return b"[" + encoded(_metadata(result))

    def row(self, row: list[Any]) -> bytes:
        """Return an element."""
        return b",\n" + encoded(row)

    def end(self, message: str | None) -> bytes:
        """Close the array."""
        del message
        return b"]\n"


class WrappedRows:
    """The older way of /query: an array of objects with `header`, `row` and `finalMessage`."""

    content_type = KSQL_V1

    def start(self, result: QueryResult) -> bytes:
        """Return the element about the columns."""
        schema = ", ".join(
            f"`{name}` {type_}" for name, type_ in zip(result.names, result.types, strict=True)
        )
        return b"[" + encoded({"header": {"queryId": result.query_id, "schema": schema}})

    def row(self, row: list[Any]) -> bytes:
        """Return an element."""
        return b",\n" + encoded({"row": {"columns": row}})

    def end(self, message: str | None) -> bytes:
        """Say why there are no more rows, and close the array."""
        last = b"" if message is None else b",\n" + encoded({"finalMessage": message})
        return last + b"]\n"


async def written(result: QueryResult, format_: RowFormat) -> AsyncIterator[bytes]:
    """Iterate over the bytes of a result."""
    yield format_.start(result)
    count = 0
    async with aclosing(result.limited()) as batches:
        async for batch in batches:
            count += len(batch)
            if result.is_push and isinstance(format_, DelimitedRows):
                # As ksqlDB sends them: there are clients that take what comes for one row.
                for row in batch:
                    yield format_.row(row)
            else:
                yield b"".join(format_.row(row) for row in batch)
    is_full = result.limit is not None and count >= result.limit
    message = "Limit Reached" if is_full else "Query Completed"
    yield format_.end(message if result.is_push else None)


def _metadata(result: QueryResult) -> dict[str, Any]:
    return {
        "queryId": result.query_id,
        "columnNames": result.names,
        "columnTypes": result.types,
    }
