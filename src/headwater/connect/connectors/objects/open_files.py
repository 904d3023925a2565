"""The files of one partition of a topic that are not complete yet.

All of them become complete together, so that what was written is known by one offset: all records
before it are in complete files, and none after it counts. A file is named after the first of its
records. Whoever begins again at that offset, however its records are cut into batches this time,
comes to the same names, and writes over what a crash has left behind.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import pyarrow as pa

    from headwater.connect.connectors.objects.formats import Encoder, Format


@dataclass(frozen=True, slots=True)
class Rotation:
    """When files are complete. `by_folder` says that a record of another folder ends them, too."""

    records: int
    interval_ms: int
    by_folder: bool


@dataclass(frozen=True, slots=True)
class Rows:
    """Records of one partition in their order: offset, time, folder with the name's beginning."""

    offsets: np.ndarray
    times: np.ndarray
    folders: pa.ChunkedArray
    values: pa.ChunkedArray

    def __len__(self) -> int:
        return len(self.offsets)

    def part(self, start: int, end: int) -> Rows:
        """Return the rows from one to before another."""
        count = end - start
        return Rows(
            self.offsets[start:end],
            self.times[start:end],
            self.folders.slice(start, count),
            self.values.slice(start, count),
        )


class OpenFile:
    """A file that is being written: in memory, and on disk when it is large."""

    def __init__(self, name: str, kind: Format, memory: int) -> None:
        self.name = name
        self._file = cast("BinaryIO", tempfile.SpooledTemporaryFile(max_size=memory))  # noqa: SIM115
        self._encoder: Encoder = kind.encoder(self._file)

    def write(self, values: pa.ChunkedArray) -> None:
        """Add values."""
        self._encoder.write(values)

    def finished(self) -> BinaryIO:
        """Return the whole file, from its beginning."""
        self._encoder.finish()
        self._file.seek(0)
        return self._file

    def close(self) -> None:
        """Forget it."""
        self._file.close()


class OpenFiles:
    """Files of one partition, by folder."""

    def __init__(self, rotation: Rotation, kind: Format, memory: int, offset_format: str) -> None:
        self.kind = kind
        self._rotation = rotation
        self._memory = memory
        self._offset_format = offset_format
        self._files: dict[str, OpenFile] = {}
        self._count = 0
        self._first_time = 0
        self._first_folder = ""
        self.position = -1
        """The offset after the last record."""

    @property
    def files(self) -> list[OpenFile]:
        """The files that there are."""
        return list(self._files.values())

    def take(self, rows: Rows) -> Iterator[None]:
        """Write rows, and stop wherever the files are complete, for somebody to store them."""
        start = 0
        while start < len(rows):
            end, is_complete = self._end(rows, start)
            if end > start:
                self._write(rows.part(start, end))
            if is_complete:
                yield
            start = end

    def cleared(self) -> None:
        """Begin with new files."""
        for file in self._files.values():
            file.close()
        self._files = {}
        self._count = 0

    def _end(self, rows: Rows, start: int) -> tuple[int, bool]:
        """Return before which row the files end, and whether they are complete there."""
        most = self._rotation.records - self._count
        end = min(len(rows), start + most)
        is_complete = end == start + most
        if not self._count:
            self._first_time = int(rows.times[start])
            self._first_folder = rows.folders[start].as_py()
        if self._rotation.interval_ms > 0:
            import numpy as np

            part = rows.part(start, end)
            is_over = part.times >= self._first_time + self._rotation.interval_ms
            if self._rotation.by_folder:
                is_over |= part.folders.to_numpy() != self._first_folder
            if is_over.any():
                return start + int(np.argmax(is_over)), True
        return end, is_complete

    def _write(self, rows: Rows) -> None:
        import pyarrow.compute as pc

        folders = pc.unique(rows.folders).to_pylist()
        for folder in folders:
            chosen = None if len(folders) == 1 else pc.equal(rows.folders, folder)
            file = self._files.get(folder)
            if file is None:
                first = rows.offsets[0 if chosen is None else chosen.to_numpy().argmax()]
                name = f"{folder}{first:{self._offset_format}}{self.kind.extension}"
                file = self._files[folder] = OpenFile(name, self.kind, self._memory)
            file.write(rows.values if chosen is None else rows.values.filter(chosen))
        self._count += len(rows)
        self.position = int(rows.offsets[-1]) + 1
