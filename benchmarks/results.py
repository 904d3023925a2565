"""What was measured: every sample, and medians and ratios from them."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from benchmarks.targets import Target

LOWER_IS_BETTER = {"ms", "MB", "% of a core"}


class Row(NamedTuple):
    """One line of the table: a figure for each column that has one."""

    name: str
    unit: str
    medians: dict[str, float]

    def ratio(self, ours: str, theirs: str) -> float | None:
        """How many times better ours is than theirs; above 1 is better."""
        if ours not in self.medians or theirs not in self.medians:
            return None
        quotient = self.medians[ours] / self.medians[theirs]
        return 1 / quotient if self.unit in LOWER_IS_BETTER else quotient


class Results:
    """Samples by row and column."""

    def __init__(self) -> None:
        self.samples: dict[tuple[str, str], dict[str, list[float]]] = {}

    def add(self, row: str, unit: str, column: Target | str, value: float) -> None:
        """Note one sample."""
        name = column if isinstance(column, str) else column.name
        self.samples.setdefault((row, unit), {}).setdefault(name, []).append(value)

    def rows(self) -> list[Row]:
        """Return the medians, in the order in which the rows first came up."""
        return [
            Row(name, unit, {column: median(values) for column, values in by_column.items()})
            for (name, unit), by_column in self.samples.items()
        ]
