"""Compares two JSON Schemas: does the newer one accept all that the older one accepted?"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.registry.formats.effort import MOST_DIFFERENCES, Effort
from headwater.registry.formats.json_schema_kinds import COMPATIBLE, COMPATIBLE_IF_LENIENT, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from headwater.registry.formats.json_schema_model import Node

Pair = tuple[int, int]

ROOT = "#/"


class Difference(NamedTuple):
    """What changed, and where."""

    kind: Kind
    path: str


def differences(
    old: Node,
    new: Node,
    compare_nodes: Callable[[Scope, Node, Node], None],
    *,
    lenient: bool = False,
) -> list[Difference]:
    """Return the changes that make something invalid that was valid; none means compatible.

    Raises InvalidSchemaError where that is too much work.
    """
    compatible = COMPATIBLE | COMPATIBLE_IF_LENIENT if lenient else COMPATIBLE
    # A schema that is in itself is compared on the assumption that it is compatible with itself.
    # Where that proves wrong, what relied on it is compared again, until nothing changes any more.
    wrong: dict[Pair, list[Difference]] = {}
    effort = Effort()
    while True:
        comparison = Comparison(compatible, wrong, compare_nodes, effort)
        found = comparison.compare(old, new)
        proven = {pair: result for pair, result in comparison.results.items() if result}
        if not comparison.assumed or proven.keys() == wrong.keys():
            return found
        wrong = proven


@dataclass(slots=True)
class Comparison:
    """One pass over both schemas. Paths are relative to the pair that is being compared."""

    compatible: frozenset[Kind]
    known_wrong: dict[Pair, list[Difference]]
    compare_nodes: Callable[[Scope, Node, Node], None]
    effort: Effort
    results: dict[Pair, list[Difference]] = field(default_factory=dict)
    assumed: bool = False
    _in_progress: set[Pair] = field(default_factory=set)

    def compare(self, old: Node, new: Node) -> list[Difference]:
        """Return the incompatible differences of a pair, each pair being looked at once."""
        self.effort.spend()
        old, new = old.resolved, new.resolved
        pair = (id(old), id(new))
        if pair in self.results:
            return self.results[pair]
        if pair in self._in_progress:
            if pair in self.known_wrong:
                return self.known_wrong[pair]
            self.assumed = True
            return []
        self._in_progress.add(pair)
        scope = Scope(self)
        self.compare_nodes(scope, old, new)
        self._in_progress.remove(pair)
        self.results[pair] = scope.found
        return scope.found


@dataclass(slots=True)
class Scope:
    """Where in a pair the comparison stands, and what it found so far."""

    comparison: Comparison
    path: str = "#"
    found: list[Difference] = field(default_factory=list)

    @contextmanager
    def at(self, part: str) -> Iterator[None]:
        """Go one step down."""
        before = self.path
        self.path = f"{before}/{part}"
        yield
        self.path = before

    def add(self, kind: Kind) -> None:
        """Note a change, unless it is a harmless one."""
        if kind not in self.comparison.compatible:
            self._note(kind, self.path if self.path != "#" else ROOT)

    def compare(self, old: Node | None, new: Node | None) -> bool:
        """Compare what is here and note what was found; return whether it is compatible."""
        if old is None or new is None:
            if old is None and new is not None:
                self.add(Kind.SCHEMA_ADDED)
                return False
            return True
        inner = self.comparison.compare(old, new)
        for kind, path in inner:
            self._note(kind, self.path + (path[1:] if path != ROOT else ""))
        return not inner

    def is_compatible(self, old: Node, new: Node) -> bool:
        """Return whether two nodes are compatible, without noting anything."""
        return not self.comparison.compare(old, new)

    def _note(self, kind: Kind, path: str) -> None:
        self.comparison.effort.spend()
        if len(self.found) < MOST_DIFFERENCES:
            self.found.append(Difference(kind, path))

    def compare_limit(self, keyword: str, name: str, old: Any, new: Any) -> None:
        """Note how a limit changed; `name` is what its kinds start with."""
        if old == new:
            return
        if old is None:
            change = "ADDED"
        elif new is None:
            change = "REMOVED"
        else:
            change = "INCREASED" if old < new else "DECREASED"
        with self.at(keyword):
            self.add(Kind[f"{name}_{change}"])
