"""ACLs as a matrix: whom they name in its lines, and what they are about in its columns."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from headwater.console.model.paging import Page, Wanted, page_of
from headwater.console.model.security.permissions import EVERYBODY, EVERYTHING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.clients.raw.acls import Acl

MOST_RESOURCES = 10


class Pattern(NamedTuple):
    """What ACLs are about: one resource, those whose names start so, or all."""

    resource_type: str
    name: str
    pattern_type: str

    @property
    def is_prefix(self) -> bool:
        """Whether it is about all whose names start so."""
        return self.pattern_type == "PREFIXED"

    @property
    def is_everything(self) -> bool:
        """Whether it is about all of its type."""
        return self.name == EVERYTHING and not self.is_prefix


class Right(NamedTuple):
    """What somebody may or may not do, and from where."""

    is_allowed: bool
    operation: str
    host: str


@dataclass(frozen=True)
class AclMatrix:
    """A part of the matrix: a page of principals, and the first resources that they meet."""

    patterns: Sequence[Pattern]
    more_patterns: int
    principals: Page[str]
    rights: Mapping[tuple[str, Pattern], Sequence[Right]]


def matrix_of(acls: Sequence[Acl], wanted: Wanted) -> AclMatrix:
    """Return what is wanted of the matrix: the ACLs in which all words are."""
    words = wanted.search.lower().split()
    found = [acl for acl in acls if all(word in " ".join(acl).lower() for word in words)]
    rights: defaultdict[tuple[str, Pattern], list[Right]] = defaultdict(list)
    for acl in found:
        pattern = Pattern(acl.resource_type, acl.name, acl.pattern_type)
        right = Right(acl.permission == "ALLOW", acl.operation, acl.host)
        rights[acl.principal, pattern].append(right)
    page = page_of(sorted({acl.principal for acl in found}), Wanted(page=wanted.page), _rank, {})
    shown = set(page.items)
    patterns = sorted({pattern for name, pattern in rights if name in shown}, key=_order)
    return AclMatrix(
        patterns[:MOST_RESOURCES],
        max(len(patterns) - MOST_RESOURCES, 0),
        page,
        {place: sorted(each) for place, each in rights.items()},
    )


def _rank(principal: str) -> str:
    # What holds for all is read before what holds for some.
    return "" if principal == EVERYBODY else principal


def _order(pattern: Pattern) -> tuple[str, bool, str, str]:
    return (pattern.resource_type, not pattern.is_everything, pattern.name, pattern.pattern_type)
