"""Windows that are in the keys of a topic, as WINDOW_TYPE and WINDOW_SIZE say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.analysis.durations import milliseconds
from headwater.sql.errors import SqlError
from headwater.sql.metastore.source import KeyWindow, WindowKind
from headwater.sql.tree.queries import Duration, TimeUnit

if TYPE_CHECKING:
    from headwater.sql.analysis.properties import Properties


def declared_window(properties: Properties) -> KeyWindow | None:
    """Return the windows of a source, or None if it has none."""
    kind = properties.text("WINDOW_TYPE")
    size = properties.text("WINDOW_SIZE")
    if kind is None:
        if size is not None:
            raise SqlError(
                "WINDOW_SIZE needs WINDOW_TYPE beside it", properties.location("WINDOW_SIZE")
            )
        return None
    if kind.upper() not in WindowKind.__members__:
        choices = ", ".join(WindowKind.__members__)
        raise SqlError(
            f"WINDOW_TYPE is one of {choices}, not {kind}", properties.location("WINDOW_TYPE")
        )
    found = WindowKind[kind.upper()]
    if found is WindowKind.SESSION:
        if size is not None:
            raise SqlError("sessions have no WINDOW_SIZE", properties.location("WINDOW_SIZE"))
        return KeyWindow(found)
    if size is None:
        raise SqlError(
            f"{found.value} windows need a WINDOW_SIZE", properties.location("WINDOW_TYPE")
        )
    return KeyWindow(found, _size(size, properties))


def _size(text: str, properties: Properties) -> int:
    amount, _, unit = text.strip().partition(" ")
    name = unit.strip().upper()
    name = name if name.endswith("S") else f"{name}S"
    if not amount.isdecimal() or name not in TimeUnit.__members__:
        raise SqlError(
            f"WINDOW_SIZE is a length of time such as '30 SECONDS', not '{text}'",
            properties.location("WINDOW_SIZE"),
        )
    location = properties.location("WINDOW_SIZE")
    return milliseconds(Duration(int(amount), TimeUnit[name], location=location))
