"""Tables that can be asked: stores that follow their topics, opened when they are first needed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, cast

from headwater.plan.formats import Format
from headwater.plan.schemas.types import BINARY
from headwater.sql.errors import SqlError
from headwater.sql.planning.records import Records
from headwater.sql.planning.wire_types import forms_of, wire_type
from headwater.sql.server.rows.formats import Side as Columns
from headwater.sql.server.rows.records import Record, RecordReader
from headwater.stores.errors import StoreError
from headwater.stores.opening import open_store
from headwater.stores.table import FollowedTable, Side

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from headwater.clients import ClusterAccess
    from headwater.serde import SchemaRegistryClient
    from headwater.sql.metastore.source import DataSource
    from headwater.sql.server.rows.row import Row
    from headwater.stores.key_value import KeyValueStore

_READY_WITHIN_S = 60.0
_WINDOW_BYTES = {"SESSION": 16}
_START_BYTES = 8
_BYTES = Side(Format("bytes"), BINARY)


class TableStores:
    """Stores by table; any thread may ask."""

    def __init__(
        self, access: ClusterAccess, directory: Path, registry: SchemaRegistryClient | None
    ) -> None:
        self._access = access
        self._directory = directory
        self._registry = registry
        self._open: dict[str, TableStore] = {}
        self._guard = threading.Lock()

    def get(self, table: DataSource) -> TableStore:
        """Return the store of a table that is ready to be asked; raises SqlError."""
        with self._guard:
            store = self._open.get(table.name)
            if store is not None and store.table != table:
                self._open.pop(table.name).close()
                store = None
            if store is None:
                store = TableStore(table, self._access, self._directory, self._registry)
                self._open[table.name] = store
        store.wait_until_ready()
        return store

    def keep(self, tables: Mapping[str, DataSource]) -> None:
        """Close the stores of all tables but these."""
        with self._guard:
            for name in [name for name in self._open if tables.get(name) is None]:
                self._open.pop(name).close()

    def close(self) -> None:
        """Close all stores."""
        self.keep({})


class TableStore:
    """The rows of a table as they are now."""

    def __init__(
        self,
        table: DataSource,
        access: ClusterAccess,
        directory: Path,
        registry: SchemaRegistryClient | None,
    ) -> None:
        self.table = table
        self._reader = RecordReader(table, table.name, registry)
        self._key = Columns(table, "key", registry)
        self._value = Columns(table, "value", registry)
        self._is_in_bytes = table.is_windowed or _is_written_otherwise(table)
        # Values are read here, with ksqlDB's ways, and not by the store.
        followed = FollowedTable(table.name, table.topic, self._key_side(), _BYTES)
        directory.mkdir(parents=True, exist_ok=True)
        try:
            store = open_store(followed, access, directory, registry)
        except StoreError as failure:
            raise SqlError(f"{table.name} cannot be asked: {failure}") from failure
        self._store = cast("KeyValueStore", store)

    def wait_until_ready(self) -> None:
        """Wait until all of the topic was read that was there; raises SqlError."""
        try:
            self._store.wait_until_ready(_READY_WITHIN_S)
        except StoreError as failure:
            raise SqlError(f"{self.table.name} cannot be asked yet: {failure}") from failure

    def rows(self, alias: str, keys: Iterable[Mapping[str, Any]] | None) -> Iterator[Row]:
        """Return rows with these keys, or all; raises SqlError."""
        try:
            if keys is None:
                for key, value in self._store.all():
                    yield self._row(alias, key, value)
                return
            for wanted in keys:
                for key, value in self._found(wanted):
                    yield self._row(alias, key, value)
        except StoreError as failure:
            raise SqlError(f"{self.table.name} cannot be asked: {failure}") from failure

    def close(self) -> None:
        """Stop to follow the table."""
        self._store.close()

    def _key_side(self) -> Side:
        if self._is_in_bytes:
            return _BYTES
        records = Records(self.table)
        return Side(records.key_format, records.key_type)

    def _found(self, wanted: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
        if None in wanted.values():
            return
        if not self._is_in_bytes:
            only = wanted[self.table.key[0].name]
            key = only if len(self.table.key) == 1 else dict(wanted)
            value = self._store.get(key)
            if value is not None:
                yield key, value
            return
        prefix = self._key.write(wanted)
        assert prefix is not None
        length = len(prefix) + self._window_bytes
        for key, value in self._store.prefix_scan(prefix):
            if len(key) == length:
                yield key, value

    @property
    def _window_bytes(self) -> int:
        window = self.table.window
        return 0 if window is None else _WINDOW_BYTES.get(window.kind.value, _START_BYTES)

    def _row(self, alias: str, key: Any, value: bytes) -> Row:
        if self._is_in_bytes:
            row = self._reader.row(Record(key, value))
            return {(alias, name): part for (_, name), part in row.items()}
        columns = self.table.key
        keys = {columns[0].name: key} if len(columns) == 1 else key
        return {
            (alias, name): part
            for name, part in {**keys, **(self._value.read(value) or {})}.items()
        }


def _is_written_otherwise(table: DataSource) -> bool:
    """Return whether a topic has keys in another form than the language: their bytes are asked."""
    format_ = table.key_format.name
    if format_ == "DELIMITED" or format_.startswith("PROTOBUF"):
        return True
    forms = forms_of(format_)
    return any(wire_type(column.type, forms) != column.type for column in table.key)
