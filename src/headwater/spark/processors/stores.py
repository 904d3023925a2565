"""State stores of a processor on Spark's state; time to live is by the clock of its timers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from headwater.plan.expressions.python_function import plain
from headwater.plan.processing import processor
from headwater.plan.schemas.types import TIMESTAMP, Array, Map, Struct

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

    from headwater.plan.processing.processor import StateStore
    from headwater.plan.schemas.types import DataType
    from headwater.spark.processors.clock import Clock

_WRITTEN = "written bigint"


class Store(ABC):
    """What stores share: values beside the time at which they were written."""

    def __init__(self, store: StateStore, handle: StatefulProcessorHandle, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._open(handle, f"value {store.value.ddl()}, {_WRITTEN}")

    @abstractmethod
    def purge(self) -> None:
        """Forget what has outlived its time."""

    @abstractmethod
    def _open(self, handle: StatefulProcessorHandle, schema: str) -> None:
        """Have Spark's state of this kind."""

    def _written(self, value: Any) -> tuple[Any, int]:
        now = self._clock.now_ms
        if self._store.ttl_ms is not None:
            self._clock.wake_at(now + self._store.ttl_ms)
        return plain(value), now

    def _alive(self, stored: Any) -> Any:
        """Return a value as users know it, or None where there is none any more."""
        if stored is None or not self._is_alive(stored):
            return None
        return _plain(stored[0], self._store.value)

    def _is_alive(self, stored: Any) -> bool:
        ttl_ms = self._store.ttl_ms
        return ttl_ms is None or self._clock.now_ms < stored[1] + ttl_ms


class SparkValueStore(Store, processor.ValueStore):
    """A value."""

    def get(self) -> Any:
        """Return the value, unless it has outlived its time."""
        stored = self._state.get()
        return self._alive(stored)

    def put(self, value: Any) -> None:
        """Set the value."""
        self._state.update(self._written(value))

    def delete(self) -> None:
        """Forget the value."""
        self._state.clear()

    def purge(self) -> None:
        """Forget the value if it has outlived its time."""
        stored = self._state.get()
        if stored is not None and not self._is_alive(stored):
            self._state.clear()

    def _open(self, handle: StatefulProcessorHandle, schema: str) -> None:
        self._state = handle.getValueState(self._store.name, schema)


class SparkListStore(Store, processor.ListStore):
    """A list."""

    def all(self) -> list[Any]:
        """Return the values that have not outlived their time."""
        return [
            _plain(each[0], self._store.value) for each in self._state.get() if self._is_alive(each)
        ]

    def append(self, value: Any) -> None:
        """Add a value at the end."""
        self._state.appendValue(self._written(value))

    def put(self, values: Sequence[Any]) -> None:
        """Set all values."""
        if values:
            self._state.put([self._written(each) for each in values])
        else:
            self._state.clear()

    def delete(self) -> None:
        """Forget all values."""
        self._state.clear()

    def purge(self) -> None:
        """Forget the values that have outlived their time."""
        stored = list(self._state.get())
        alive = [tuple(each) for each in stored if self._is_alive(each)]
        if not alive:
            self._state.clear()
        elif len(alive) < len(stored):
            self._state.put(alive)

    def _open(self, handle: StatefulProcessorHandle, schema: str) -> None:
        self._state = handle.getListState(self._store.name, schema)


class SparkMapStore(Store, processor.MapStore):
    """A map."""

    def get(self, key: Any) -> Any:
        """Return the value of a key, unless it has outlived its time."""
        stored = self._state.getValue((plain(key),))
        return self._alive(stored)

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a key."""
        self._state.updateValue((plain(key),), self._written(value))

    def delete(self, key: Any) -> None:
        """Forget a key."""
        self._state.removeKey((plain(key),))

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Yield the keys whose values have not outlived their time."""
        for key, stored in list(self._state.iterator()):
            if self._is_alive(stored):
                yield _plain(key[0], self._key_type), _plain(stored[0], self._store.value)

    def purge(self) -> None:
        """Forget the keys whose values have outlived their time."""
        for key, stored in list(self._state.iterator()):
            if not self._is_alive(stored):
                self._state.removeKey(tuple(key))

    def _open(self, handle: StatefulProcessorHandle, schema: str) -> None:
        assert self._store.key is not None, "a map has keys"
        self._key_type = self._store.key
        key = f"key {self._key_type.ddl()}"
        self._state = handle.getMapState(self._store.name, key, schema)


STORES: dict[str, type[Store]] = {
    "value": SparkValueStore,
    "list": SparkListStore,
    "map": SparkMapStore,
}


def _plain(value: Any, type_: DataType) -> Any:
    """Return what Spark gives back of a type as users know it: structs are dicts, times in UTC."""
    if value is None:
        return None
    match type_:
        case Struct(fields):
            given = value.values() if isinstance(value, dict) else value
            parts = zip(fields, given, strict=True)
            return {field.name: _plain(part, field.type) for field, part in parts}
        case Array(element):
            return [_plain(each, element) for each in value]
        case Map(key, of):
            return {_plain(each, key): _plain(part, of) for each, part in value.items()}
    # A time comes without a zone, which then is this machine's.
    is_time = type_ == TIMESTAMP and isinstance(value, datetime)
    return value.astimezone(UTC) if is_time else value
