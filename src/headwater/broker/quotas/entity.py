"""Who a quota is for: a user, a client id, both, or an address; each by name or for all others."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

USER = "user"
CLIENT_ID = "client-id"
IP = "ip"
TYPES = (USER, CLIENT_ID, IP)

Entity: TypeAlias = tuple[tuple[str, str | None], ...]
"""Types and names in the order of their types; no name stands for all that have no quota."""

Quotas: TypeAlias = "Mapping[Entity, Mapping[str, float]]"
"""What is set for whom."""


def entity_of(names: Mapping[str, str | None]) -> Entity:
    """Return the entity of these types and names."""
    return tuple(sorted(names.items()))


def describe(entity: Entity) -> str:
    """Return an entity as a message names it."""
    return ", ".join(f"{kind} {'<default>' if name is None else name}" for kind, name in entity)
