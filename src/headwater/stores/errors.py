"""What keeps a look-up from its answer; each error says what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.stores.position import Position


class StoreError(Exception):
    """A store cannot answer."""


class UnknownStoreError(StoreError):
    """There is no store of this name."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        names = ", ".join(sorted(known)) or "none"
        super().__init__(
            f"there is no store {name!r} (there are: {names}); a table gets one with "
            f'table.store("{name}")'
        )


class StoreLoadingError(StoreError):
    """The store has not read so far yet that what it shows was ever true."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(
            f"the store {name!r} is loading: {reason}. Wait for it with wait_until_ready(), or ask "
            "with stale=True for what is there"
        )


class PositionNotReachedError(StoreError):
    """The store did not come to a position in time."""

    def __init__(self, name: str, wanted: Position, reached: Position, timeout_s: float) -> None:
        super().__init__(
            f"the store {name!r} did not reach {wanted} within {timeout_s:g} s: it is at "
            f"{reached}. Is the program that writes it running? Or give it more time with "
            "timeout_s="
        )
        self.reached = reached


class StoreClosedError(StoreError):
    """The store was closed."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the store {name!r} is closed")


class StoreInUseError(StoreError):
    """Another process follows the table into the same file."""

    def __init__(self, path: str, holder: str) -> None:
        super().__init__(
            f"{path} is in use by {holder}: ask that process over HTTP, or give this one a "
            "directory of its own"
        )


class UnsupportedKeyError(StoreError):
    """Nothing can be looked up by keys of this type."""


class StoreValueError(StoreError):
    """A key or a value is not of the type that the table has."""
