"""Records as a table: a line each, which opens to the whole record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.console.model.records.decoding import pretty
from headwater.console.model.records.fields import MISSING, look_up, shown
from headwater.console.view.formats import UNKNOWN, moment, path, size
from headwater.console.view.markup import Markup, join, link, tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from headwater.console.model.records.decoding import Decoded
    from headwater.console.model.records.records import Record

_PREVIEW = 240
_INLINE = 4_000
_PLACE = ("Partition", "Offset", "Time (UTC)")


def record_table(records: Iterable[Record], columns: Sequence[str] = ()) -> Markup:
    """Return the table, with these fields in place of key and value."""
    headings = (*_PLACE, *columns) if columns else (*_PLACE, "Key", "Value")
    head = tag("tr", *(tag("th", each, scope="col") for each in headings))
    body = [
        tag("tr", *map(_cell, (*_place(record), *_contents(record, columns)))) for record in records
    ]
    kind = "hw-table hw-records hw-picked" if columns else "hw-table hw-records"
    rows = tag("table", tag("thead", head), tag("tbody", *body), class_=kind)
    return tag("div", rows, class_="hw-panel")


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


def _place(record: Record) -> tuple[Markup, ...]:
    return (
        tag("div", record.partition),
        tag("div", link(record.offset, _address(record))),
        tag("div", moment(record.timestamp_ms)),
    )


def _contents(record: Record, columns: Sequence[str]) -> tuple[Markup, ...]:
    if columns:
        return tuple(_field(record, name) for name in columns)
    return (
        tag("div", _brief(record.key), class_="hw-mono", title=record.key.kind),
        _value(record, _address(record)),
    )


def _field(record: Record, name: str) -> Markup:
    found = look_up(record, name)
    if found is MISSING:
        return tag("div", UNKNOWN, class_="hw-soft")
    text = shown(found, _INLINE)
    cut = text[:_PREVIEW] + ("..." if len(text) > _PREVIEW else "")
    return tag("div", cut, class_="hw-mono", title=text)


def _address(record: Record) -> str:
    return path("topics", record.topic, "records", str(record.partition), str(record.offset))


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
