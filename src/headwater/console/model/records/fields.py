"""Fields of records: found in them, named by a way through them, picked as columns of a table.

value.customer.city    value.items[0].price    key    headers.trace
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from headwater.console.model.records.records import Record

FIELD = r"[A-Za-z_][\w.\[\]\-]*"
"""How a field is written, as a regular expression."""
ROOTS = ("key", "value", "headers", "partition", "offset", "timestamp")
"""What fields begin with."""
MISSING: Any = object()
"""What stands for a field that a record does not have."""
MOST_COLUMNS = 20

_OF_RECORDS = ROOTS[:3]
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")
_PLAIN = re.compile(r"[\w\-]+")
_MOST_OFFERED = 200
_MOST_DEEP = 6
_MOST_COPIED = 256 * 1024  # bytes of a key and a value
_encoder = json.JSONEncoder(ensure_ascii=False, default=str)


def look_up(record: Record, field: str) -> Any:
    """Return what a record has there, or MISSING."""
    steps = [name or int(index) for name, index in _STEP.findall(field)]
    root, *path = steps
    found: Any = _root(record, str(root))
    if root == "headers" and path:
        # A header's name may have dots in it.
        return found.get(field.removeprefix("headers."), MISSING)
    for step in path:
        try:
            found = found[step] if isinstance(found, dict | list) else MISSING
        except (KeyError, IndexError, TypeError):
            return MISSING
        if found is MISSING:
            return MISSING
    return found


def root_of(field: str) -> str:
    """Return what a field begins with.

    >>> root_of("value[0].price")
    'value'
    """
    return re.split(r"[.\[]", field)[0]


def columns_of(text: str) -> tuple[str, ...]:
    """Return the fields that a text names, with commas between them; raises ValueError.

    >>> columns_of("key, value.city,value.city")
    ('key', 'value.city')
    """
    names = tuple(dict.fromkeys(each.strip() for each in text.split(",") if each.strip()))
    for name in names:
        if not re.fullmatch(FIELD, name) or root_of(name) not in _OF_RECORDS:
            raise ValueError(
                f"'{name}' is no column such as value.city; it starts with {', '.join(_OF_RECORDS)}"
            )
    if len(names) > MOST_COLUMNS:
        raise ValueError(f"these are {len(names)} columns; {MOST_COLUMNS} are the most")
    return names


def fields_in(records: Iterable[Record]) -> list[str]:
    """Return the fields that can be picked, as they come up in records; the first so many."""
    found: dict[str, None] = {}
    for record in records:
        for part in ("key", "value"):
            for field in islice(_ways(getattr(record, part).value, part, 0), _MOST_OFFERED):
                found[field] = None
        for name, _ in record.headers:
            if re.fullmatch(FIELD, f"headers.{name}"):
                found[f"headers.{name}"] = None
        if len(found) >= _MOST_OFFERED:
            break
    order = {root: place for place, root in enumerate(_OF_RECORDS)}
    return sorted(found, key=lambda field: order[root_of(field)])[:_MOST_OFFERED]


def described(record: Record, columns: Sequence[str] = ()) -> dict[str, Any]:
    """Return a record as JSON has it: whole, or with the fields of these names that it has."""
    place = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp_ms,
    }
    if columns:
        found = {name: look_up(record, name) for name in columns}
        return {**place, **{name: each for name, each in found.items() if each is not MISSING}}
    return {
        **place,
        "key": record.key.value,
        "value": record.value.value,
        "headers": [{"key": name, "value": value.value} for name, value in record.headers],
    }


def to_copy(record: Record) -> Record:
    """Return a record whose JSON is of a size for a page: of a large one what is shown of it."""
    if record.key.size + record.value.size <= _MOST_COPIED:
        # What was decoded by a schema is whole, however much of it is shown.
        return record
    key, value = (
        replace(it, value=it.text) if it.is_cut else it for it in (record.key, record.value)
    )
    return record._replace(key=key, value=value)


def shown(value: Any, most: int | None = None) -> str:
    """Return a field's value as a text, or so many letters of it."""
    if isinstance(value, str):
        return value[:most]
    if most is None:
        return json.dumps(value, ensure_ascii=False, default=str)
    # Piece by piece: the whole of a large one would hold everybody up.
    parts, size = [], 0
    for part in _encoder.iterencode(value):
        parts.append(part)
        size += len(part)
        if size >= most:
            break
    return "".join(parts)[:most]


def _ways(value: Any, so_far: str, depth: int) -> Iterator[str]:
    """Name the fields below one; those with names that could not be written are left out."""
    if not isinstance(value, dict) or not value or depth == _MOST_DEEP:
        yield so_far
        return
    for name, inner in value.items():
        if _PLAIN.fullmatch(str(name)):
            yield from _ways(inner, f"{so_far}.{name}", depth + 1)


def _root(record: Record, name: str) -> Any:
    match name:
        case "key":
            return record.key.value
        case "value":
            return record.value.value
        case "headers":
            return {header: decoded.value for header, decoded in record.headers}
        case "partition":
            return record.partition
        case "offset":
            return record.offset
    return record.timestamp_ms
