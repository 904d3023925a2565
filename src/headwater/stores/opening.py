"""Opens stores: one by what is known of its table, or those of a program by their names."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast

from headwater.stores.errors import StoreError, UnknownStoreError
from headwater.stores.key_value import KeyValueStore
from headwater.stores.windows import WindowStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from headwater.clients import ClusterAccess
    from headwater.serde import SchemaRegistryClient
    from headwater.stores.table import FollowedTable


def open_store(
    table: FollowedTable,
    access: ClusterAccess,
    directory: Path,
    registry: SchemaRegistryClient | None = None,
) -> KeyValueStore | WindowStore:
    """Follow a table into a file of this directory; raises StoreError.

    The registry is asked where keys or values are in one of its formats.
    """
    kind = WindowStore if table.windowed else KeyValueStore
    return kind(table, access, directory, registry)


def default_directory(app: str) -> Path:
    """Return where the stores of a program are, unless another place is given."""
    return Path.home() / ".headwater" / "stores" / app


class Stores:
    """Stores by name, each opened when it is first asked for."""

    def __init__(
        self,
        tables: Iterable[FollowedTable],
        access: ClusterAccess,
        directory: Path,
        registry: Callable[[], SchemaRegistryClient] | None = None,
    ) -> None:
        self._tables = {table.name: table for table in tables}
        self._access = access
        self._directory = directory
        self._registry = registry
        self._open: dict[str, KeyValueStore | WindowStore] = {}
        self._guard = threading.Lock()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all stores, also of those that are not open."""
        return tuple(sorted(self._tables))

    def get(self, name: str) -> KeyValueStore | WindowStore:
        """Return a store, and open it if need be; raises StoreError."""
        found = self._open.get(name)
        if found is not None:
            return found
        table = self._table(name)
        with self._guard:
            if name not in self._open:
                needs = table.key.format.needs_registry or table.value.format.needs_registry
                registry = self._registry() if needs and self._registry is not None else None
                self._open[name] = open_store(table, self._access, self._directory, registry)
            return self._open[name]

    def key_value(self, name: str) -> KeyValueStore:
        """Return a store of a table without windows; raises StoreError."""
        if self._table(name).windowed:
            raise StoreError(f"the table in the store {name!r} has windows: use window_store")
        return cast("KeyValueStore", self.get(name))

    def windowed(self, name: str) -> WindowStore:
        """Return the store of a windowed table; raises StoreError."""
        if not self._table(name).windowed:
            raise StoreError(f"the table in the store {name!r} has no windows: use store")
        return cast("WindowStore", self.get(name))

    def close(self) -> None:
        """Close all that are open."""
        with self._guard:
            for store in self._open.values():
                store.close()
            self._open.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _table(self, name: str) -> FollowedTable:
        table = self._tables.get(name)
        if table is None:
            raise UnknownStoreError(name, self._tables)
        return table
