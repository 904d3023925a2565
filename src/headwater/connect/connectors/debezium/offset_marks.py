"""How an offset says that it is within a snapshot, which begins again after a crash."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_SNAPSHOT = "snapshot"


def within_snapshot(offset: Mapping[str, object]) -> dict[str, object]:
    """Return an offset with the mark."""
    return {**offset, _SNAPSHOT: True}


def is_whole(offset: Mapping[str, Any] | None) -> bool:
    """Whether there is an offset, and it is not within a snapshot."""
    return offset is not None and not offset.get(_SNAPSHOT)
