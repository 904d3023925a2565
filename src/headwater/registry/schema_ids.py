"""Ids for new schemas: none is given twice, whatever became of the schema it was given to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater.registry.store import SchemaStore


class SchemaIds:
    """Counts on from what was read and from what was given here; only the leader gives ids."""

    def __init__(self, store: SchemaStore) -> None:
        self._store = store
        self._last: dict[str, int] = {}

    def next(self, context: str) -> int:
        """Return an id that no schema of a context has or ever had."""
        id_ = max(self._store.max_id(context), self._last.get(context, 0)) + 1
        self._last[context] = id_
        return id_
