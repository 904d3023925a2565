"""The books of a chaos run on a compacted topic: the dictionary that its log must add up to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Change:
    """One write of a key; without a value it is a tombstone."""

    number: int
    key: bytes
    value: bytes | None


class KeyedLedger:
    """One partition with one writer that numbers its writes and does not retry.

    For each key the log's last record must be the last one that was acknowledged, or a later
    one whose answer never came. A key may be gone only if such a record is a tombstone.
    """

    def __init__(self) -> None:
        self._sent: dict[int, Change] = {}
        self._offsets: dict[int, Change] = {}
        self._last_acknowledged: dict[bytes, Change] = {}
        self._latest_tombstone: dict[bytes, int] = {}

    @property
    def acknowledged(self) -> int:
        return len(self._offsets)

    def send(self, key: bytes, *, delete: bool) -> Change:
        number = len(self._sent)
        value = None if delete else b"%d of " % number + key * 20
        change = self._sent[number] = Change(number, key, value)
        if delete:
            self._latest_tombstone[key] = number
        return change

    def acknowledge(self, offset: int, change: Change) -> None:
        assert offset not in self._offsets, f"offset {offset} was given out twice"
        self._offsets[offset] = change
        before = self._last_acknowledged.get(change.key)
        if before is None or before.number < change.number:
            self._last_acknowledged[change.key] = change

    def check(self, found: Sequence[tuple[int, Change]]) -> None:
        """Compare all that the log has."""
        last: dict[bytes, Change] = {}
        before_offset = before_number = -1
        for offset, change in found:
            assert offset > before_offset, f"offset {offset} after {before_offset}"
            assert change.number > before_number, f"{change} comes after number {before_number}"
            assert self._sent.get(change.number) == change, f"never sent: {change} at {offset}"
            expected = self._offsets.get(offset, change)
            assert expected == change, f"offset {offset} has {change}, not {expected}"
            before_offset, before_number = offset, change.number
            last[change.key] = change
        for key, acknowledged in self._last_acknowledged.items():
            if key in last:
                assert last[key].number >= acknowledged.number, (
                    f"an old value came back: {last[key]} instead of {acknowledged}"
                )
            else:
                gone = self._latest_tombstone.get(key, -1) >= acknowledged.number
                assert gone, f"lost: {acknowledged}"
