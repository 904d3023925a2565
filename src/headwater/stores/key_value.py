"""A table's store, read as Kafka Streams' ReadOnlyKeyValueStore."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from headwater.stores.ordered_bytes import after_values
from headwater.stores.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.stores.bounds import Bound


class KeyValueStore(Store):
    """The value of each key. Structs are dicts, and keys are in the order of their values.

        counts = app.store("counts")
        counts.get("boiler-1")
        for key, value in counts.range("boiler-1", "boiler-9"): ...

    Each look-up sees one state of the table: a range never has half of a batch.
    """

    def get(self, key: Any, **bound: Unpack[Bound]) -> Any:
        """Return the key's value, or None for a key that the table does not have."""
        return self._one(self.keys.of(key), bound)

    def range(
        self, lower: Any = None, upper: Any = None, **bound: Unpack[Bound]
    ) -> Iterator[tuple[Any, Any]]:
        """Go through the keys from one to another, both included; None is the end of the table."""
        return self._some(*self._limits(lower, upper), bound)

    def reverse_range(
        self, lower: Any = None, upper: Any = None, **bound: Unpack[Bound]
    ) -> Iterator[tuple[Any, Any]]:
        """Go through the same keys as `range`, the last one first."""
        return self._some(*self._limits(lower, upper), bound, backward=True)

    def prefix_scan(self, prefix: Any, **bound: Unpack[Bound]) -> Iterator[tuple[Any, Any]]:
        """Go through the keys that begin with a text, or that have these first fields."""
        return self._some(*self.keys.beginning_with(prefix), bound)

    def all(self, **bound: Unpack[Bound]) -> Iterator[tuple[Any, Any]]:
        """Go through all keys."""
        return self._all(bound)

    def reverse_all(self, **bound: Unpack[Bound]) -> Iterator[tuple[Any, Any]]:
        """Go through all keys, the last one first."""
        return self._all(bound, backward=True)

    def _limits(self, lower: Any, upper: Any) -> tuple[bytes, bytes]:
        first = b"" if lower is None else self.keys.of(lower)
        return first, b"\xff" if upper is None else after_values(self.keys.of(upper))
