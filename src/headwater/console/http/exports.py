"""Records as a file: JSON lines or CSV, a page after the other as fast as the client takes them."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.console.model.records.fields import MISSING, columns_of, described, look_up, shown
from headwater.console.model.records.questions import ConsoleError, NotUnderstoodError
from headwater.console.model.records.records import Query
from headwater.http.answers import NDJSON, Stream, json_line
from headwater.http.errors import HttpError, bad_request

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from headwater.console.model.console import Console
    from headwater.console.model.consoles import Consoles
    from headwater.console.model.records.records import Record, RecordPage
    from headwater.http.request import Request

CSV = "text/csv"
DEFAULT_LIMIT = 1_000
MOST_RECORDS = 1_000_000
_AT_ONCE = 500
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_PLACE = ("partition", "offset", "timestamp")
_CONTENTS = ("key", "value", "headers")


async def export_records(consoles: Consoles, request: Request) -> Stream:
    """Answer GET /api/topics/{topic}/records, and the same below /clusters/{cluster}."""
    console = _console(consoles, request)
    form = request.text("format", "jsonl")
    if form not in ("jsonl", "csv"):
        raise bad_request(f"The format is jsonl or csv, not '{form}'")
    limit = request.number("limit", DEFAULT_LIMIT)
    if not 1 <= limit <= MOST_RECORDS:
        raise bad_request(f"The limit is from 1 to {MOST_RECORDS}")
    partition = request.number("partition", -1)
    query = Query(
        request.parameters["topic"],
        request.text("start", "newest"),
        None if partition < 0 else partition,
        request.text("contains"),
        request.text("where"),
        request.text("columns"),
        limit=min(limit, _AT_ONCE),
    )
    columns = _columns(query)
    first = await _page(console, query)
    whose = f"{console.label}." if console.label else ""
    name = f'attachment; filename="{whose}{query.topic}.{form}"'
    headers = ((b"content-disposition", name.encode("latin-1", "replace")),)
    if form == "csv":
        chunks = _csv(_pages(console, query, first, limit), columns, console.label)
        return Stream(chunks, f"{CSV}; charset=utf-8", headers=headers)
    lines = _lines(_pages(console, query, first, limit), columns, console.label)
    return Stream(lines, NDJSON, headers=headers)


def _console(consoles: Consoles, request: Request) -> Console:
    name = request.parameters.get("cluster")
    if name is None:
        return consoles.first
    console = consoles.named(name)
    if console is None:
        raise HttpError(404, 404, f"There is no cluster {name} under /clusters here")
    return console


async def _page(console: Console, query: Query) -> RecordPage:
    try:
        return await console.ask(console.records.page, query)
    except NotUnderstoodError as failure:
        raise bad_request(str(failure)) from None
    except ConsoleError as failure:
        raise HttpError(503, 503, str(failure)) from None


async def _pages(
    console: Console, query: Query, page: RecordPage, limit: int
) -> AsyncIterator[list[Record]]:
    left = limit
    while True:
        records = list(page.records)[:left]
        left -= len(records)
        if records:
            yield records
        if not page.cursor or not left:
            return
        page = await _page(console, replace(query, cursor=page.cursor, limit=min(left, _AT_ONCE)))


def _columns(query: Query) -> Sequence[str]:
    try:
        return columns_of(query.columns)
    except ValueError as failure:
        raise bad_request(str(failure)) from None


async def _lines(
    pages: AsyncIterator[list[Record]], columns: Sequence[str], cluster: str
) -> AsyncIterator[bytes]:
    # After all else: who reads columns by their place finds them where they were.
    where = {"cluster": cluster} if cluster else {}
    async for records in pages:
        yield b"".join(json_line({**described(record, columns), **where}) for record in records)


async def _csv(
    pages: AsyncIterator[list[Record]], columns: Sequence[str], cluster: str
) -> AsyncIterator[bytes]:
    where = (cluster,) if cluster else ()
    names = (*_PLACE, *(columns or _CONTENTS), *(["cluster"] if cluster else []))
    yield _row(tuple(map(_harmless, names)))
    async for records in pages:
        yield b"".join(_row((*_cells(record, columns), *where)) for record in records)


def _cells(record: Record, columns: Sequence[str]) -> tuple[object, ...]:
    if columns:
        found = [look_up(record, name) for name in columns]
        contents = ["" if each is MISSING else shown(each) for each in found]
    else:
        headers = "; ".join(f"{name}: {text.text}" for name, text in record.headers)
        contents = [record.key.text, record.value.text, headers]
    return (record.partition, record.offset, record.timestamp_ms, *map(_harmless, contents))


def _row(cells: tuple[object, ...]) -> bytes:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue().encode("utf-8", "replace")


def _harmless(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula; numbers stay as they are."""
    is_risky = text[:1] in ("=", "+", "-", "@", "\t", "\r") and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_risky else text
