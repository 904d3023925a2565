"""The books of a chaos run: what was sent, what was acknowledged, and whether a log agrees."""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

Stored = tuple[int, bytes | None]
"""An offset of the log and the value found there."""


class Sent(NamedTuple):
    """One record as its writer numbered it."""

    writer: int
    partition: int
    sequence: int

    def value(self) -> bytes:
        """The only content that this record may have: its number, and bytes that follow from it."""
        name = b"%d/%d/%d" % self
        seed = hashlib.blake2b(name, digest_size=16).hexdigest().encode()
        return name + b" " + seed * (1 + self.sequence % 7)

    @classmethod
    def parse(cls, value: bytes) -> Sent:
        writer, partition, sequence = value.split(b" ")[0].split(b"/")
        return cls(int(writer), int(partition), int(sequence))


class Ledger:
    """A topic that is only appended to.

    A record that was acknowledged must be where it was acknowledged. One that was sent without
    an answer may be there or not. Each writer sends without retrying, so that its numbers can
    only grow within a partition: a duplicate or a swap breaks that.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next: dict[tuple[int, int], int] = {}
        self._acknowledged: dict[int, dict[int, bytes]] = {}
        self._seen: dict[int, list[bytes]] = {}
        self._last_seen: dict[tuple[int, int], int] = {}

    @property
    def acknowledged(self) -> int:
        return sum(len(offsets) for offsets in self._acknowledged.values())

    def send(self, writer: int, partition: int) -> bytes:
        """The value of the writer's next record for a partition."""
        with self._lock:
            sequence = self._next.get((writer, partition), 0)
            self._next[writer, partition] = sequence + 1
        return Sent(writer, partition, sequence).value()

    def acknowledge(self, partition: int, offset: int, value: bytes) -> None:
        with self._lock:
            offsets = self._acknowledged.setdefault(partition, {})
            assert offset not in offsets, f"offset {offset} of {partition} was given out twice"
            offsets[offset] = value

    def end(self, partition: int) -> int:
        """How far the partition is known, so that a later check may begin there."""
        return len(self._seen.get(partition, ()))

    def check(self, partition: int, start: int, found: Sequence[Stored]) -> None:
        """Compare what the log has from `start` on, which an earlier check has reached."""
        seen = self._seen.setdefault(partition, [])
        assert start <= len(seen)
        offsets = [offset for offset, _ in found]
        assert offsets == list(range(start, start + len(found))), "offsets are not contiguous"
        values = [value for _, value in found if value is not None]
        assert len(values) == len(found), "a value became null"
        known = seen[start:]
        assert values[: len(known)] == known, "what was read before has changed or gone"
        for offset, value in enumerate(values[len(known) :], start + len(known)):
            self._enter(partition, offset, value)
            seen.append(value)
        for offset, value in self._acknowledged.get(partition, {}).items():
            assert offset < len(seen), f"lost: offset {offset} of {partition} ({value!r})"
            assert seen[offset] == value, f"offset {offset}: {seen[offset]!r}, not {value!r}"

    def _enter(self, partition: int, offset: int, value: bytes) -> None:
        sent = Sent.parse(value)
        where = f"at offset {offset} of partition {partition}"
        assert value == sent.value(), f"never sent: {value!r} {where}"
        assert sent.partition == partition, f"misplaced: {sent} {where}"
        assert sent.sequence < self._next[sent.writer, partition], f"not sent yet: {sent} {where}"
        before = self._last_seen.get((sent.writer, partition), -1)
        assert sent.sequence > before, f"{sent} {where} comes after number {before}"
        self._last_seen[sent.writer, partition] = sent.sequence
