"""Which leader epoch began at which offset, as `leader-epoch-checkpoint` keeps it."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from headwater.log.checkpoint import LEADER_EPOCHS, read_epochs, write_epochs

if TYPE_CHECKING:
    from pathlib import Path

UNKNOWN_EPOCH = -1
UNKNOWN_OFFSET = -1


class LeaderEpochs:
    """Epochs and their start offsets, both growing; changes stay in memory until `write`."""

    __slots__ = ("_entries", "_path", "_written", "latest")

    def __init__(self, directory: Path) -> None:
        self._path = f"{directory}/{LEADER_EPOCHS}"
        self._entries: tuple[tuple[int, int], ...] = ()
        self._written: tuple[tuple[int, int], ...] = ()
        self.latest = UNKNOWN_EPOCH
        """The epoch of the last batch."""

    @property
    def is_dirty(self) -> bool:
        """Whether the file lags behind; a start that reads the last batch sees that."""
        return self._entries != self._written

    @property
    def is_misleading(self) -> bool:
        """Whether the file tells of epochs that are not so, which no start could see."""
        return self._entries[: len(self._written)] != self._written

    @property
    def entries(self) -> tuple[tuple[int, int], ...]:
        """All epochs with their start offsets."""
        return self._entries

    def load(self) -> None:
        """Take over what the file says; raises CorruptCheckpoint."""
        self._replace(tuple(sorted(read_epochs(self._path))))
        self._written = self._entries

    def write(self, *, durable: bool = True) -> None:
        """Bring the file up to date, on disk as well if it has to be durable at once."""
        entries = self._entries
        write_epochs(self._path, entries, durable=durable)
        self._written = entries

    def assign(self, epoch: int, start_offset: int) -> None:
        """Note that batches from `start_offset` on are of `epoch`, if that is new."""
        if epoch <= self.latest:
            return
        kept = tuple(entry for entry in self._entries if entry[1] < start_offset)
        self._replace((*kept, (epoch, start_offset)))

    def truncate_from_end(self, end_offset: int) -> None:
        """Forget epochs that begin at or after the end of the log."""
        kept = tuple(entry for entry in self._entries if entry[1] < end_offset)
        if kept != self._entries:
            self._replace(kept)

    def truncate_from_start(self, start_offset: int) -> None:
        """Forget epochs that ended before the start of the log."""
        first = max(0, bisect_right(self._entries, start_offset, key=_start_of) - 1)
        kept = self._entries[first:]
        if kept and kept[0][1] < start_offset:
            kept = ((kept[0][0], start_offset), *kept[1:])
        if kept != self._entries:
            self._replace(kept)

    def epoch_of(self, offset: int) -> int:
        """Epoch of the batch at an offset, -1 if that is not known any more."""
        number = bisect_right(self._entries, offset, key=_start_of) - 1
        return UNKNOWN_EPOCH if number < 0 else self._entries[number][0]

    def end_of(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """Largest known epoch up to `epoch`, and the offset at which the next one began.

        An epoch later than all gives (-1, -1); one earlier than all is answered with itself and
        the start of the first.
        """
        if epoch == UNKNOWN_EPOCH:
            return UNKNOWN_EPOCH, UNKNOWN_OFFSET
        if epoch == self.latest:
            return epoch, log_end_offset
        number = bisect_right(self._entries, epoch, key=_epoch_of)
        if number == len(self._entries):
            return UNKNOWN_EPOCH, UNKNOWN_OFFSET
        floor = self._entries[number - 1][0] if number else epoch
        return floor, self._entries[number][1]

    def _replace(self, entries: tuple[tuple[int, int], ...]) -> None:
        self._entries = entries
        self.latest = entries[-1][0] if entries else UNKNOWN_EPOCH


def _epoch_of(entry: tuple[int, int]) -> int:
    return entry[0]


def _start_of(entry: tuple[int, int]) -> int:
    return entry[1]
