"""The last offset of each key, for any number of keys in a fixed amount of memory.

Kafka keeps the 16-byte MD5 of a key and an offset of 8 bytes, 24 bytes for each key. So do we, but
the 16 bytes are two SipHash values under the key that Python draws at random for each process:
that is several times as fast from Python, and nobody can prepare two keys that collide, which
with MD5 anybody can. Without an attacker the odds of a collision are the same, one in 2**128
for a pair of keys.
"""

from __future__ import annotations

import sys
from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.log.records.record_scan import ScannedRecord

if sys.hash_info.width != 64:  # pragma: no cover - no such machine in CI
    raise ImportError("Compaction needs a 64-bit Python: its hashes tell keys apart.")

BYTES_PER_KEY = 24
LOAD_FACTOR = 0.9

_SALT = b"\x9e7y\xb9"


class OffsetMap:
    """A hash table from keys to offsets that neither grows nor forgets."""

    def __init__(self, memory: int, load_factor: float = LOAD_FACTOR) -> None:
        self._slots = _largest_prime(max(memory // BYTES_PER_KEY, 3))
        self._first = array("q", [0]) * self._slots
        self._second = array("q", [0]) * self._slots
        # Zero is an empty slot, so an offset is kept one higher.
        self._offset = array("q", [0]) * self._slots
        self.capacity = max(1, min(int(self._slots * load_factor), self._slots - 1))
        self.size = 0
        self.latest_offset = -1
        """The last offset that was looked at: what is behind it is not in the map."""

    @property
    def utilization(self) -> float:
        """How full the table is, from 0 to 1."""
        return self.size / self._slots

    def put_all(
        self, base_offset: int, records: Iterable[ScannedRecord], from_offset: int = 0
    ) -> bool:
        """Add the keys of a batch's records from an offset on; False if the map is full.

        It takes what fits, and `latest_offset` says how far it came.
        """
        first, second, offsets = self._first, self._second, self._offset
        slots, room = self._slots, self.capacity - self.size
        for _, _, delta, key, _ in records:
            offset = base_offset + delta
            if key is None or offset < from_offset:
                continue
            one = hash(key)
            two = hash(_SALT + key)
            slot = one % slots
            while offsets[slot]:
                if first[slot] == one and second[slot] == two:
                    break
                slot = (slot + 1 + two % (slots - 1)) % slots
            else:
                if not room:
                    self.size = self.capacity
                    return False
                room -= 1
                first[slot] = one
                second[slot] = two
            offsets[slot] = offset + 1
            self.latest_offset = offset
        self.size = self.capacity - room
        return True

    def latest_of(self, base_offset: int, records: Iterable[ScannedRecord]) -> list[ScannedRecord]:
        """Those of a batch's records that no later one replaces, as far as the map knows.

        Records without a key are replaced by definition, those past `latest_offset` never.
        """
        first, second, offsets = self._first, self._second, self._offset
        slots, latest_offset = self._slots, self.latest_offset
        kept: list[ScannedRecord] = []
        for record in records:
            offset = base_offset + record[2]
            key = record[3]
            if offset > latest_offset:
                kept.append(record)
                continue
            if key is None:
                continue
            one = hash(key)
            slot = one % slots
            if offsets[slot]:
                two = hash(_SALT + key)
                while (found := offsets[slot]) and not (first[slot] == one and second[slot] == two):
                    slot = (slot + 1 + two % (slots - 1)) % slots
                if offset < found - 1:
                    continue
            kept.append(record)
        return kept


def memory_for(keys: int, load_factor: float = LOAD_FACTOR) -> int:
    """Bytes of a map that holds `keys` keys and leaves some room to find them quickly."""
    return int((keys + 1) / min(load_factor, 0.75) + 8) * BYTES_PER_KEY


def _largest_prime(limit: int) -> int:
    # A prime number of slots lets every step visit all of them.
    candidate = limit
    while any(candidate % divisor == 0 for divisor in range(2, int(candidate**0.5) + 1)):
        candidate -= 1
    return candidate
