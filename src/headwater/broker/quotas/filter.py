"""Picks the quotas that an operator asks for."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.quotas.entity import CLIENT_ID, IP, TYPES, USER
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.broker.quotas.entity import Entity


class MatchType(IntEnum):
    """How a component picks names, numbered as Kafka numbers it."""

    EXACT = 0
    DEFAULT = 1
    SPECIFIED = 2
    """Any name, and the default too."""


class Component(NamedTuple):
    """What a filter asks of one type."""

    entity_type: str
    match_type: int
    match: str | None


class QuotaFilter:
    """Says of an entity whether it is asked for; `strict` leaves out all with further types."""

    def __init__(self, components: Sequence[Component], *, strict: bool) -> None:
        self._names: dict[str, str | None] = {}
        self._types: set[str] = set()
        self._strict = strict
        for component in components:
            self._add(component)
        types = self._names.keys() | self._types
        if IP in types and types & {USER, CLIENT_ID}:
            raise _wrong("no quota is for an address and for a user or a client id")

    def matches(self, entity: Entity) -> bool:
        """Whether this entity is asked for."""
        names = dict(entity)
        types = self._names.keys() | self._types
        if self._strict and names.keys() != types:
            return False
        return types <= names.keys() and all(
            names[kind] == name for kind, name in self._names.items()
        )

    def _add(self, component: Component) -> None:
        kind, match_type, match = component
        if not kind:
            raise _wrong("a component of the filter has no type")
        if kind in self._names or kind in self._types:
            raise _wrong(f"the filter names {kind} twice")
        if kind not in TYPES:
            raise KafkaError(
                ErrorCode.UNSUPPORTED_VERSION, f"quotas are for {', '.join(TYPES)}, not for {kind}"
            )
        if match_type not in tuple(MatchType):
            raise _wrong(f"there is no match type {match_type}")
        if (match is None) == (match_type == MatchType.EXACT):
            problem = "needs" if match is None else "can't have"
            raise _wrong(f"the match type {MatchType(match_type).name} {problem} a name")
        if match_type == MatchType.SPECIFIED:
            self._types.add(kind)
        else:
            self._names[kind] = match


def _wrong(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
