"""Tables of text that fit the terminal: long cells go on in the next line, or are cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len, chop_cells, set_cell_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_LEAST = 5
_CUT = "..."


def listed(
    titles: Sequence[str], rows: Iterable[Sequence[str]], width: int | None, *, wraps: bool = True
) -> Iterator[str]:
    """Return the lines of a table that is known as a whole: columns as wide as they need be."""
    known = [list(row) for row in rows]
    widths = [max(cell_len(row[index]) for row in [titles, *known]) for index in range(len(titles))]
    if width is not None:
        widths = _shrunk(widths, width + 1 - 3 * len(widths))
    yield from _separated(titles, widths, wraps=wraps)
    yield "-" * (sum(widths) + 3 * len(widths) - 1)
    for row in known:
        yield from _separated(row, widths, wraps=wraps)


class RowTable:
    """A table whose rows come one by one: columns share the terminal's width from the start."""

    def __init__(self, titles: Sequence[str], width: int, *, wraps: bool) -> None:
        self._titles = titles
        each, left = divmod(max(width - 1, 0), max(len(titles), 1))
        self._widths = [max(each - 1 + (index < left), _LEAST) for index, _ in enumerate(titles)]
        self._wraps = wraps

    def head(self) -> Iterator[str]:
        """Return the lines before the rows."""
        rule = "+" + "".join(f"{'-' * width}+" for width in self._widths)
        yield rule
        yield from self._lines(self._titles)
        yield rule

    def row(self, cells: Sequence[str]) -> Iterator[str]:
        """Return the lines of a row."""
        yield from self._lines(cells)

    def _lines(self, cells: Sequence[str]) -> Iterator[str]:
        for parts in _parts(cells, self._widths, wraps=self._wraps):
            yield f"|{'|'.join(parts)}|"


def _separated(cells: Sequence[str], widths: Sequence[int], *, wraps: bool) -> Iterator[str]:
    for parts in _parts(cells, widths, wraps=wraps):
        yield f" {' | '.join(parts)}".rstrip()


def _parts(cells: Sequence[str], widths: Sequence[int], *, wraps: bool) -> Iterator[list[str]]:
    """Return a row's cells line by line, each padded to its column's width."""
    folded = [_folded(cell, width, wraps=wraps) for cell, width in zip(cells, widths, strict=True)]
    for index in range(max(map(len, folded), default=0)):
        yield [
            set_cell_size(lines[index] if index < len(lines) else "", width)
            for lines, width in zip(folded, widths, strict=True)
        ]


def _folded(cell: str, width: int, *, wraps: bool) -> list[str]:
    lines = cell.splitlines() or [""]
    if wraps:
        return [part for line in lines for part in chop_cells(line, width) or [""]]
    if len(lines) == 1 and cell_len(cell) <= width:
        return [cell]
    return [set_cell_size(lines[0], max(width - len(_CUT), 0)) + _CUT]


def _shrunk(widths: list[int], room: int) -> list[int]:
    """Take from the widest columns until all fit, but leave each a few letters."""
    shrunk = list(widths)
    while sum(shrunk) > room and max(shrunk) > _LEAST:
        widest = max(shrunk)
        next_widest = max((width for width in shrunk if width < widest), default=_LEAST)
        count = shrunk.count(widest)
        least = max(next_widest, _LEAST, widest - -(-(sum(shrunk) - room) // count))
        shrunk = [least if width == widest else width for width in shrunk]
    return shrunk
