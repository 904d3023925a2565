"""Records as a table: a line each, which opens to the whole record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.console.model.decoding import pretty
from headwater.console.view.formats import moment, path, size
from headwater.console.view.markup import Markup, join, link, tag

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.console.model.decoding import Decoded
    from headwater.console.model.records import Record

_PREVIEW = 240
_INLINE = 4_000
_HEADINGS = ("Partition", "Offset", "Time (UTC)", "Key", "Value")


def record_table(records: Iterable[Record]) -> Markup:
    """Return the table."""
    head = tag("tr", *(tag("th", each, scope="col") for each in _HEADINGS))
    body = [tag("tr", *map(_cell, _cells(record))) for record in records]
    shown = tag("table", tag("thead", head), tag("tbody", *body), class_="hw-table hw-records")
    return tag("div", shown, class_="hw-panel")


def record_detail(record: Record) -> Markup:
    """Return a whole record, by itself."""
    return join(
        [
            tag("p", f"{moment(record.timestamp_ms)} UTC", class_="hw-soft"),
            tag("h2", "Key ", _kind(record.key)),
            _whole(record.key),
            tag("h2", "Value ", _kind(record.value)),
            _whole(record.value),
            *((tag("h2", "Headers"), _headers(record)) if record.headers else ()),
        ]
    )


def _cell(content: Markup) -> Markup:
    return tag("td", content)


def _cells(record: Record) -> tuple[Markup, ...]:
    place = path("topics", record.topic, "records", str(record.partition), str(record.offset))
    return (
        tag("div", record.partition),
        tag("div", link(record.offset, place)),
        tag("div", moment(record.timestamp_ms)),
        tag("div", _brief(record.key), class_="hw-mono", title=record.key.kind),
        _value(record, place),
    )


def _value(record: Record, place: str) -> Markup:
    value = record.value
    whole = pretty(value)
    is_long = len(whole) > _INLINE
    return tag(
        "details",
        tag("summary", _brief(value), class_="hw-mono"),
        _problem(value),
        tag("pre", whole[:_INLINE], "\n..." if is_long else None),
        link("Show all of it", place) if is_long or value.is_cut else None,
        _headers(record) if record.headers else None,
        tag("span", _kind(value), " ", tag("span", size(value.size), class_="hw-soft")),
    )


def _brief(decoded: Decoded) -> Markup:
    if decoded.kind in ("null", "empty"):
        return tag("span", decoded.kind, class_="hw-pill")
    text = decoded.text[:_PREVIEW]
    return join([text, "..." if len(decoded.text) > _PREVIEW else None])


def _whole(decoded: Decoded) -> Markup:
    if decoded.kind in ("null", "empty"):
        return tag("p", decoded.kind, class_="hw-soft")
    cut = f"Only the first part of {size(decoded.size)} is shown." if decoded.is_cut else None
    return join(
        [
            _problem(decoded),
            tag("pre", pretty(decoded)),
            tag("p", cut, class_="hw-soft") if cut else None,
        ]
    )


def _problem(decoded: Decoded) -> Markup | None:
    if decoded.problem is None:
        return None
    return tag("div", f"It could not be decoded: {decoded.problem}", class_="hw-note warning")


def _kind(decoded: Decoded) -> Markup:
    schema = "" if decoded.schema_id is None else f", schema {decoded.schema_id}"
    return tag("span", f"{decoded.kind}{schema}", class_="hw-pill")


def _headers(record: Record) -> Markup:
    return tag("pre", "\n".join(f"{name}: {value.text}" for name, value in record.headers))
