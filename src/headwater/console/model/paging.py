"""A page of a long list: searched, sorted and cut where the list is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Item = TypeVar("Item")
Item_co = TypeVar("Item_co", covariant=True)

PAGE_SIZE = 50


@dataclass(frozen=True)
class Wanted:
    """What a person wants to see of a list, as it stands in a page's address."""

    search: str = ""
    sort: str = ""
    """A column; with a minus in front, the largest first."""
    page: int = 1


@dataclass(frozen=True)
class Page(Generic[Item_co]):
    """Some items of a list, and how many there are."""

    items: Sequence[Item_co]
    number: int
    pages: int
    found: int
    total: int


def page_of(
    items: Sequence[Item],
    wanted: Wanted,
    name: Callable[[Item], str],
    columns: dict[str, Callable[[Item], Any]],
    size: int = PAGE_SIZE,
) -> Page[Item]:
    """Return the page that is wanted, or the last one.

    >>> page_of(["b", "ab", "c"], Wanted("b", "name"), str, {"name": str}).items
    ['ab', 'b']
    """
    words = wanted.search.lower().split()
    found = [each for each in items if all(word in name(each).lower() for word in words)]
    column = wanted.sort.removeprefix("-")
    found.sort(key=name)
    if column in columns:
        key = columns[column]
        found.sort(key=lambda each: _orderly(key(each)), reverse=wanted.sort.startswith("-"))
    pages = max(1, -(-len(found) // size))
    number = min(max(wanted.page, 1), pages)
    start = (number - 1) * size
    return Page(found[start : start + size], number, pages, len(found), len(items))


def _orderly(value: Any) -> tuple[bool, Any]:
    """What is not known comes before all else."""
    return (value is not None, value if value is not None else 0)
