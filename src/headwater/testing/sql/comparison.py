"""Records that came out of statements, compared with those that a file expects."""

from __future__ import annotations

import base64
import datetime
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.sql.types.sql_type import Decimal
from headwater.testing.sql.json_records import only_column

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headwater.sql.metastore.source import DataSource
    from headwater.testing.topology_driver import OutputRecord

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def differences(
    expected: Sequence[dict[str, Any]],
    found: Sequence[OutputRecord],
    sink: DataSource,
    how: Comparison,
) -> Iterator[str]:
    """Compare in order, or where state is kept by key, each key's in order."""
    wanted = [
        (
            only_column(record.get("key"), sink),
            _plain(_numbers(record.get("value"), sink)),
            record.get("timestamp"),
            _start(record),
        )
        for record in expected
    ]
    given = [_given(record, sink) for record in found]
    if how.is_by_key:
        for records in (wanted, given):
            records.sort(key=lambda record: repr((_plain(record[0]), record[3])))
    for index in range(max(len(wanted), len(given))):
        ours = given[index] if index < len(given) else None
        theirs = wanted[index] if index < len(wanted) else None
        if ours is None or theirs is None or not how.is_same(ours, theirs):
            yield f"{sink.topic} {index}: {ours}\n  and not {theirs}"
            return


@dataclass(frozen=True)
class Comparison:
    """How records are compared: across keys or not, to the last digit or not.

    Where a format has defaults in place of nulls, the two are the same.
    """

    is_by_key: bool
    is_exact: bool
    has_defaults: bool

    def is_same(self, ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> bool:
        """Tell whether a record is the one that is expected."""
        key, value, at, start = theirs
        return bool(
            _plain(ours[0]) == _plain(key)
            and self._is_same_value(ours[1], value)
            and (at is None or ours[2] == at)
            and ours[3] == start
        )

    def _is_same_value(self, ours: Any, theirs: Any) -> bool:
        if self.has_defaults:
            ours, theirs = _without_defaults(ours), _without_defaults(theirs)
        if not self.is_exact:
            ours, theirs = _rounded(ours), _rounded(theirs)
        return bool(ours == theirs)


def _without_defaults(value: Any) -> Any:
    match value:
        case dict():
            parts = ((name, _without_defaults(part)) for name, part in value.items())
            return {name: part for name, part in parts if part}
        case list():
            return [_without_defaults(part) or None for part in value]
        case _:
            return value


def _rounded(value: Any) -> Any:
    match value:
        case dict():
            return {name: _rounded(part) for name, part in value.items()}
        case float():
            return float(f"{value:.12g}")
        case _:
            return value


def _start(record: dict[str, Any]) -> tuple[int, int | None] | None:
    """Return the window's start and, of a session, its end."""
    if "window" not in record:
        return None
    window = record["window"]
    is_session = window.get("type", "").lower() == "session"
    return window["start"], window["end"] if is_session else None


def _given(
    record: OutputRecord, sink: DataSource
) -> tuple[Any, Any, int, tuple[int, int | None] | None]:
    at = round((record.timestamp - _EPOCH) / datetime.timedelta(milliseconds=1))
    value = _plain(_text_of_bytes(record.value))
    if sink.window is None:
        return _text_of_bytes(record.key), value, at, None
    return _text_of_bytes(record.key["key"]), value, at, _bounds(record.key)


def _bounds(key: dict[str, Any]) -> tuple[int, int | None]:
    return key["window_start"], key.get("window_end")


def _text_of_bytes(value: Any) -> Any:
    """Return bytes as a case writes them."""
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _numbers(value: Any, sink: DataSource) -> Any:
    """Return a value whose decimals are numbers, where the case writes them as texts."""
    decimals = {column.name for column in sink.value if isinstance(column.type, Decimal)}
    if not isinstance(value, dict):
        return value
    return {
        name: float(part) if name in decimals and isinstance(part, str) else part
        for name, part in value.items()
    }


def _plain(value: Any) -> Any:
    """Return a value without fields that are null, which one writes and the other leaves out."""
    match value:
        case dict():
            return {name: _plain(part) for name, part in value.items() if part is not None}
        case list():
            return [_plain(part) for part in value]
        case _:
            return value
