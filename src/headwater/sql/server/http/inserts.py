"""/inserts-stream: rows as lines of JSON, each acknowledged when the cluster has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.http.answers import Stream
from headwater.http.errors import HttpError
from headwater.http.rights import Operation, ResourceType
from headwater.sql.errors import SqlError
from headwater.sql.server.entities.errors import BAD_REQUEST
from headwater.sql.server.http.requests import InsertsRequest, decoded, invalid_json
from headwater.sql.server.http.row_formats import DELIMITED, JSON
from headwater.sql.server.rows.shown import encoded

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from headwater.http.answers import Reply
    from headwater.http.request import Request
    from headwater.sql.metastore.source import DataSource
    from headwater.sql.server.server import SqlServer

_MOST_LINE_BYTES = 4 * 1024 * 1024


async def inserts_stream(server: SqlServer, request: Request) -> Reply:
    """Insert rows as they come; an answer for each of them comes back."""
    lines = _lines(request.chunks())
    try:
        opening = decoded(await anext(lines), InsertsRequest)
        target = _target(server, opening.target)
        request.require(Operation.WRITE, ResourceType.STREAM, target.name)
    except StopAsyncIteration:
        raise invalid_json("there is no body") from None
    except SqlError as refusal:
        raise HttpError(400, BAD_REQUEST + 1, str(refusal)) from None
    acknowledged = _acknowledged(server, target, lines)
    accepted = request.headers.get(b"accept", b"").decode("latin-1")
    if JSON in accepted and DELIMITED not in accepted:
        return Stream(_array(acknowledged), JSON)
    return Stream(_each_in_a_line(acknowledged), DELIMITED)


def _target(server: SqlServer, name: str) -> DataSource:
    plain = name.strip("`") if name.startswith("`") else name.upper()
    target = server.engine.metastore.source(plain)
    if target.is_source or target.has_headers or target.is_windowed:
        raise SqlError(f"Cannot insert into {target.name}: it is read-only")
    return target


async def _acknowledged(
    server: SqlServer, target: DataSource, lines: AsyncIterator[bytes]
) -> AsyncIterator[bytes]:
    number = 0
    async for line in lines:
        ack: dict[str, Any] = {"status": "ok", "seq": number}
        try:
            await server.inserter.insert_json(target, decoded(line, dict[str, Any]))
        except (SqlError, HttpError) as refusal:
            ack = {
                "status": "error",
                "seq": number,
                "@type": "generic_error",
                "error_code": BAD_REQUEST,
                "message": str(refusal),
            }
        number += 1
        yield encoded(ack)


async def _each_in_a_line(acknowledged: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for ack in acknowledged:
        yield ack + b"\n"


async def _array(acknowledged: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Return one JSON array, a line for each element."""
    before = b"["
    async for ack in acknowledged:
        yield before + ack
        before = b",\n"
    yield b"[]\n" if before == b"[" else b"]\n"


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    rest = b""
    async for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            if line.strip():
                yield line
        if len(rest) > _MOST_LINE_BYTES:
            raise HttpError(413, 41300, f"A row is larger than {_MOST_LINE_BYTES} bytes")
    if rest.strip():
        yield rest
