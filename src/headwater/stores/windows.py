"""A windowed table's store, read as Kafka Streams' ReadOnlyWindowStore."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from headwater.plan.schemas.types import Struct
from headwater.stores.keys import parsed
from headwater.stores.ordered_bytes import after_values, encode
from headwater.stores.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.stores.bounds import Bound


class Window(NamedTuple):
    """A window of time, its end not included."""

    start: dt.datetime
    end: dt.datetime


class WindowStore(Store):
    """The values of each key by window.

        per_minute = app.store("per_minute")
        for window, value in per_minute.fetch("boiler-1", noon, one_o_clock): ...

    Times are those of windows' starts, both ends included; None is no limit. A time without a zone
    is UTC.
    """

    def get(self, key: Any, window_start: dt.datetime, **bound: Unpack[Bound]) -> Any:
        """Return the value of the window that starts then, or None where there is none."""
        found = self.fetch(key, window_start, window_start, **bound)
        return next((value for _, value in found), None)

    def fetch(
        self,
        key: Any,
        time_from: dt.datetime | None = None,
        time_to: dt.datetime | None = None,
        **bound: Unpack[Bound],
    ) -> Iterator[tuple[Window, Any]]:
        """Go through the windows of a key, the earliest first."""
        found = self._some(*self._limits(key, time_from, time_to), bound)
        return ((_window(each), value) for each, value in found)

    def backward_fetch(
        self,
        key: Any,
        time_from: dt.datetime | None = None,
        time_to: dt.datetime | None = None,
        **bound: Unpack[Bound],
    ) -> Iterator[tuple[Window, Any]]:
        """Go through the windows of a key, the latest first."""
        found = self._some(*self._limits(key, time_from, time_to), bound, backward=True)
        return ((_window(each), value) for each, value in found)

    def fetch_range(
        self,
        lower: Any = None,
        upper: Any = None,
        time_from: dt.datetime | None = None,
        time_to: dt.datetime | None = None,
        **bound: Unpack[Bound],
    ) -> Iterator[tuple[tuple[Any, Window], Any]]:
        """Go through the windows of the keys from one to another, both included."""
        first = b"" if lower is None else self._of(lower)
        end = b"\xff" if upper is None else after_values(self._of(upper))
        return _between(self._some(first, end, bound), time_from, time_to)

    def fetch_all(
        self,
        time_from: dt.datetime | None = None,
        time_to: dt.datetime | None = None,
        **bound: Unpack[Bound],
    ) -> Iterator[tuple[tuple[Any, Window], Any]]:
        """Go through the windows of all keys; the whole table is looked at."""
        return _between(self._all(bound), time_from, time_to)

    def backward_fetch_all(
        self,
        time_from: dt.datetime | None = None,
        time_to: dt.datetime | None = None,
        **bound: Unpack[Bound],
    ) -> Iterator[tuple[tuple[Any, Window], Any]]:
        """Go through the windows of all keys, the last one first."""
        return _between(self._all(bound, backward=True), time_from, time_to)

    def all(self, **bound: Unpack[Bound]) -> Iterator[tuple[tuple[Any, Window], Any]]:
        """Go through everything, by key and then by time."""
        return self.fetch_all(**bound)

    def backward_all(self, **bound: Unpack[Bound]) -> Iterator[tuple[tuple[Any, Window], Any]]:
        """Go through everything, the last one first."""
        return self.backward_fetch_all(**bound)

    def parsed_key(self, text: str) -> Any:
        """Return the key that a text means, as an address has it; raises StoreValueError."""
        assert isinstance(self.table.key.type, Struct), "keys of windowed tables are structs"
        return parsed(text, self.table.key.type.fields[0].type)

    def _of(self, key: Any) -> bytes:
        return self.keys.beginning_with({"key": key})[0]

    def _limits(
        self, key: Any, time_from: dt.datetime | None, time_to: dt.datetime | None
    ) -> tuple[bytes, bytes]:
        of_key = self._of(key)
        first = of_key if time_from is None else of_key + encode(time_from)
        return first, after_values(of_key if time_to is None else of_key + encode(time_to))


def _window(key: dict[str, Any]) -> Window:
    return Window(key["window_start"], key["window_end"])


def _between(
    entries: Iterator[tuple[Any, Any]], first: dt.datetime | None, last: dt.datetime | None
) -> Iterator[tuple[tuple[Any, Window], Any]]:
    first, last = _in_utc(first), _in_utc(last)
    for key, value in entries:
        window = _window(key)
        if (first is None or window.start >= first) and (last is None or window.start <= last):
            yield (key["key"], window), value


def _in_utc(moment: dt.datetime | None) -> dt.datetime | None:
    return moment.replace(tzinfo=dt.UTC) if moment is not None and not moment.tzinfo else moment
