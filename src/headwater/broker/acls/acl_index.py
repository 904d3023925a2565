"""All ACLs, so ordered that those about one resource and one principal are found at once.

A question looks up the resource's own name, the wildcard, and each beginning of the name that is as
long as some prefix in use: a handful of dictionary look-ups, however many ACLs there are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from headwater.broker.acls.acl import WILDCARD, Acl, ResourcePattern
from headwater.protocol.acls import PatternType, ResourceType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from headwater.broker.authorizer import Resource

_ByPrincipal = dict[str, dict[Acl, None]]


class AclIndex:
    """The ACLs of a cluster, in the order of their creation."""

    def __init__(self) -> None:
        self._acls: dict[Acl, None] = {}
        self._by_pattern: dict[ResourcePattern, _ByPrincipal] = {}
        self._by_type: defaultdict[ResourceType, _ByPrincipal] = defaultdict(dict)
        self._prefix_lengths: defaultdict[ResourceType, Counter[int]] = defaultdict(Counter)

    def __iter__(self) -> Iterator[Acl]:
        return iter(self._acls)

    def __len__(self) -> int:
        return len(self._acls)

    def __contains__(self, acl: object) -> bool:
        return acl in self._acls

    def add(self, acl: Acl) -> None:
        """Take in an ACL; one that is there already stays."""
        if acl in self._acls:
            return
        self._acls[acl] = None
        pattern = acl.pattern
        if pattern not in self._by_pattern and pattern.pattern_type is PatternType.PREFIXED:
            self._prefix_lengths[pattern.resource_type][len(pattern.name)] += 1
        for by_principal in (
            self._by_pattern.setdefault(pattern, {}),
            self._by_type[pattern.resource_type],
        ):
            by_principal.setdefault(acl.principal, {})[acl] = None

    def remove(self, acl: Acl) -> None:
        """Forget an ACL, if it is there."""
        if acl not in self._acls:
            return
        del self._acls[acl]
        pattern = acl.pattern
        _forget(self._by_type[pattern.resource_type], acl)
        of_pattern = self._by_pattern[pattern]
        _forget(of_pattern, acl)
        if not of_pattern:
            del self._by_pattern[pattern]
            if pattern.pattern_type is PatternType.PREFIXED:
                lengths = self._prefix_lengths[pattern.resource_type]
                lengths[len(pattern.name)] -= 1
                if not lengths[len(pattern.name)]:
                    del lengths[len(pattern.name)]

    def about(self, resource: Resource) -> list[_ByPrincipal]:
        """Return the ACLs of all patterns that a resource falls under, by principal."""
        kind, name = resource
        patterns = [
            ResourcePattern(kind, PatternType.LITERAL, name),
            ResourcePattern(kind, PatternType.LITERAL, WILDCARD),
        ]
        patterns += [
            ResourcePattern(kind, PatternType.PREFIXED, name[:length])
            for length in self._prefix_lengths.get(kind, ())
            if length <= len(name)
        ]
        return [found for each in patterns if (found := self._by_pattern.get(each))]

    def of_type(self, kind: ResourceType, principals: Iterable[str]) -> Iterator[Acl]:
        """Return the ACLs that some principals have on any resource of a type."""
        by_principal = self._by_type.get(kind, {})
        for principal in principals:
            yield from by_principal.get(principal, ())


def _forget(by_principal: _ByPrincipal, acl: Acl) -> None:
    acls = by_principal[acl.principal]
    del acls[acl]
    if not acls:
        del by_principal[acl.principal]
