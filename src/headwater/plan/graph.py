"""The graph of a plan's operators: from each, its parents lead back to the sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.nodes import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from headwater.plan.nodes import Operator


def walk(ends: Iterable[Operator]) -> Iterator[Operator]:
    """Yield every operator that leads to these, and these, once, inputs before what reads them."""
    seen: set[int] = set()
    for end in ends:
        if id(end) not in seen:
            seen.add(id(end))
            yield from _walk(end, seen)


def sources_of(node: Operator) -> tuple[Source, ...]:
    """Return the sources that lead to an operator."""
    return tuple(each for each in walk((node,)) if isinstance(each, Source))


def _walk(end: Operator, seen: set[int]) -> Iterator[Operator]:
    # A stack of iterators: programs may chain more operators than Python nests calls.
    stack = [(end, iter(end.parents))]
    while stack:
        current, parents = stack[-1]
        for parent in parents:
            if id(parent) not in seen:
                seen.add(id(parent))
                stack.append((parent, iter(parent.parents)))
                break
        else:
            yield current
            stack.pop()
