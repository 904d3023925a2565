"""A power cut: what was not synced is lost, or some of it, page by page."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from headwater.log.file_names import JOURNAL

if TYPE_CHECKING:
    import random
    from pathlib import Path

    import pytest

PAGE = 512
"""Smaller than a real one, so that small logs have several."""


class Disk:
    """Knows how much of each file has been synced, and can lose the rest.

    The journal is left alone: it is written and synced with the same call.
    """

    def __init__(self, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._data_dir = data_dir
        self._synced: dict[int, int] = {}
        self.syncs = 0

        def sync(fd: int) -> None:
            self.syncs += 1
            found = os.fstat(fd)
            self._synced[found.st_ino] = found.st_size

        monkeypatch.setattr("headwater.log.disk.sync_data", sync)

    def sync_all(self) -> None:
        """Bring every file to disk."""
        for path in self._data_dir.glob("*-*/*"):
            found = path.stat()
            self._synced[found.st_ino] = found.st_size

    def cut_power(self, chance: random.Random) -> None:
        """Take a random part of what is not on disk: pages, ends of files, whole files."""
        for path in self._data_dir.glob("*-*/*"):
            found = path.stat()
            kept = self._synced.get(found.st_ino, 0)
            if path.suffix not in (".log", ".index", ".timeindex") or kept >= found.st_size:
                continue
            if kept == 0 and chance.random() < 0.3:
                path.unlink()
                continue
            content = bytearray(path.read_bytes())
            for start in range(kept, len(content), PAGE):
                if chance.random() < 0.4:
                    end = min(start + PAGE, len(content))
                    content[start:end] = bytes(end - start)
            path.write_bytes(content[: chance.choice([kept, len(content), *_sizes(kept, content)])])

    def lose_all(self) -> None:
        """Take all that is not on disk, the names of files too."""
        for path in self._data_dir.glob("*-*/*"):
            kept = self._synced.get(path.stat().st_ino, 0)
            if kept:
                os.truncate(path, min(kept, path.stat().st_size))
            else:
                path.unlink()


def journal_files(data_dir: Path) -> list[Path]:
    return sorted(data_dir.glob(f"{JOURNAL}*"))


def _sizes(kept: int, content: bytearray) -> list[int]:
    return list(range(kept, len(content), PAGE))
