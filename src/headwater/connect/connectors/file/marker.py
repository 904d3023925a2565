"""What a sink has appended to a file, in a marker beside it: how appending is exactly once.

Before lines are appended, the marker says where they will be and to which positions they belong.
After a crash the file tells whether all of them are there; if not, their part of it is cut off.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from headwater.connect.connectors.connector import ConnectorError, TopicPartition
from headwater.processes.whole_file import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

Positions = dict[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class _Append:
    """Lines at these bytes of the file, and the positions before and after them."""

    start: int
    length: int
    crc: int
    before: dict[str, int]
    after: dict[str, int]


class Marker:
    """The marker of one connector for one file."""

    def __init__(self, path: Path, name: str) -> None:
        self.positions: Positions = {}
        self._path = path
        safe = re.sub(r"[^A-Za-z0-9._-]", lambda found: f"%{ord(found[0]):x}", name)
        self._marker = path.with_name(f".{path.name}.{safe}.marker")

    def recover(self) -> None:
        """Find out what the file has, and cut off lines that are not there as a whole."""
        if not self._marker.exists():
            return
        last = self._read()
        if self._is_complete(last):
            self.positions = _from_text(last.after)
            return
        self.positions = _from_text(last.before)
        # Another file may have taken this one's place since, which is all somebody else's.
        if (
            self._path.exists()
            and last.start < self._path.stat().st_size < last.start + last.length
        ):
            os.truncate(self._path, last.start)

    def append(
        self, text: Sequence[bytes | memoryview], positions: Mapping[TopicPartition, int]
    ) -> None:
        """Append pieces of text, and remember these positions with them, all of it on disk."""
        start = self._path.stat().st_size if self._path.exists() else 0
        length, crc = sum(map(len, text)), 0
        for piece in text:
            crc = zlib.crc32(piece, crc)
        step = _Append(start, length, crc, _as_text(self.positions), _as_text(positions))
        write_whole(self._marker, json.dumps(asdict(step)))
        try:
            self._append(text)
        except OSError:
            if self._path.exists():
                os.truncate(self._path, start)
            raise
        self.positions = dict(positions)

    def _append(self, text: Sequence[bytes | memoryview]) -> None:
        with self._path.open("ab") as file:
            file.writelines(text)
            file.flush()
            os.fsync(file.fileno())

    def _read(self) -> _Append:
        try:
            return _Append(**json.loads(self._marker.read_text(encoding="utf-8")))
        except (ValueError, TypeError) as failure:
            raise ConnectorError(
                f"{self._marker} is damaged ({failure}); it says what was written to "
                f"{self._path.name}. Without it, lines may come twice: remove it to go on"
            ) from failure

    def _is_complete(self, last: _Append) -> bool:
        if not last.length:
            return True
        if not self._path.exists():
            return False
        with self._path.open("rb") as file:
            file.seek(last.start)
            text = file.read(last.length)
        return len(text) == last.length and zlib.crc32(text) == last.crc


def _as_text(positions: Mapping[TopicPartition, int]) -> dict[str, int]:
    return {f"{topic}-{partition}": at for (topic, partition), at in positions.items()}


def _from_text(positions: Mapping[str, int]) -> Positions:
    split = {name.rpartition("-"): at for name, at in positions.items()}
    return {TopicPartition(topic, int(number)): at for (topic, _, number), at in split.items()}
