"""Reads the known and wanted differences from the page that tells users about them."""

from __future__ import annotations

import fnmatch
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[2] / "docs" / "compatibility.md"


class Difference(NamedTuple):
    """One row of the page's tables: where it shows, and why it is so."""

    programs: tuple[str, ...]
    paths: tuple[str, ...]
    kafka: str
    ours: str
    reason: str

    def covers(self, program: str, path: str, kafka: object) -> bool:
        """A row for every program (`*`) is about where we tell more than Kafka, never less."""
        if self.programs == ("*",):
            named = kafka is None or kafka == ""
        else:
            named = any(fnmatch.fnmatchcase(program, pattern) for pattern in self.programs)
        return named and any(fnmatch.fnmatchcase(path, pattern) for pattern in self.paths)


def known_differences() -> list[Difference]:
    """Every row that names programs which show it."""
    found = []
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 5:
            programs, path, kafka, ours, reason = cells
            found.append(Difference(_names(programs), _names(path), kafka, ours, reason))
    return found


def _names(cell: str) -> tuple[str, ...]:
    return tuple(name.strip(" `") for name in cell.split(","))
