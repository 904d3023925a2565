"""Write what the journal has to the files of the logs that a power cut has taken it from.

It is done before the logs are opened, and byte by byte as the logs had written it: whatever is
rebuilt from batches after a crash (indexes, producers, transactions, leader epochs) is rebuilt from
those that come out of the journal as well. Doing it twice makes no difference.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

from headwater.log.disk import names_in, read_from_disk, sync_directory, write_at
from headwater.log.errors import CorruptBatch
from headwater.log.file_names import JOURNAL, LOG, segment_stem
from headwater.log.journal.journal_format import LogId, RegionEntry, SettledEntry
from headwater.log.journal.journal_reader import read_journal
from headwater.log.records.batch import crc_of
from headwater.log.records.batch_walk import checked_header

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from headwater.log.storage_faults import StorageFaults

logger = logging.getLogger("headwater.log")


def replay(data_dir: Path, logs: Mapping[LogId, tuple[Path, int]], faults: StorageFaults) -> None:
    """Bring the files of the logs up to what the journal has of them; raises OSError.

    `logs` has the directory of each log, and the offset up to which it is known to be on disk.
    Entries of a topic that is gone are left alone. What cannot be used is told to `faults`.
    """
    paths = [data_dir / name for name in journal_names(data_dir)]
    if not paths:
        return
    settled = {log: offset for log, (_, offset) in logs.items()}
    for entry, _ in read_journal(paths, faults.journal_gap):
        if isinstance(entry, SettledEntry):
            settled[entry.log] = max(settled.get(entry.log, 0), entry.offset)
    redo = _Redo(data_dir, {log: directory for log, (directory, _) in logs.items()}, faults)
    for entry, data in read_journal(paths, lambda _: None):
        if isinstance(entry, RegionEntry) and entry.end_offset > settled.get(entry.log, 0):
            redo.apply(entry, data)
    redo.finish()


def remove_journal(data_dir: Path) -> bool:
    """Remove the journal's files, on disk as well; False if there are none. Raises OSError."""
    names = journal_names(data_dir)
    for name in names:
        (data_dir / name).unlink()
    if names:
        sync_directory(data_dir)
    return bool(names)


def journal_names(data_dir: Path) -> list[str]:
    """List the journal's files."""
    return sorted(name for name in names_in(data_dir) if name.startswith(JOURNAL))


class _Redo:
    """Applies regions one after the other, and counts what it does."""

    def __init__(
        self, data_dir: Path, directories: dict[LogId, Path], faults: StorageFaults
    ) -> None:
        self._data_dir = data_dir
        self._directories = directories
        self._faults = faults
        self._given_up: set[LogId] = set()
        self._made_directory = False
        self._restored: dict[LogId, int] = {}

    def apply(self, region: RegionEntry, data: bytes) -> None:
        """Write a region where it was, unless it is there."""
        directory = self._directories.get(region.log)
        if directory is None or region.log in self._given_up:
            return
        if not directory.exists():
            directory.mkdir()
            self._made_directory = True
        path = segment_stem(str(directory), region.segment_base) + LOG
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            size = os.fstat(fd).st_size
            present = read_from_disk(fd, len(data), region.position)
            if present == data:
                return
            problem = ""
            if region.position > size:
                problem = f"has {size} bytes, and what came before byte {region.position} is gone"
            elif not data.startswith(_first_batch(present)):
                problem = f"has another batch at byte {region.position}"
            if problem:
                self._give_up(region, path, problem)
                return
            write_at(fd, data, region.position)
            self._restored[region.log] = self._restored.get(region.log, 0) + len(data)
        finally:
            os.close(fd)

    def finish(self) -> None:
        """Bring new names to disk and tell what was done."""
        if self._made_directory:
            sync_directory(self._data_dir)
        for log, restored in self._restored.items():
            logger.warning(
                "%s: restored %d bytes from the journal, which its own files had lost",
                self._directories[log].name, restored,
            )  # fmt: skip

    def _give_up(self, region: RegionEntry, path: str, problem: str) -> None:
        self._given_up.add(region.log)
        self._faults.journal_gap(
            f"{path} {problem}, so that the journal cannot be used for it from offset"
            f" {region.end_offset} back."
        )


def _first_batch(data: bytes) -> bytes:
    """Return the batch at the beginning, if there is a whole and intact one."""
    try:
        header = checked_header(data, 0, 0, len(data))
    except CorruptBatch:
        return b""
    batch = data[: header.size]
    return batch if crc_of(batch) == header.crc else b""
