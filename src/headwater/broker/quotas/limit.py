"""Finds the limit that counts for a client, in Kafka's order of precedence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from headwater.broker.quotas.entity import CLIENT_ID, IP, USER, entity_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.broker.quotas.entity import Entity

Who = TypeVar("Who")


class Client(NamedTuple):
    """Whom a request comes from."""

    user: str
    client_id: str


class Limit(NamedTuple, Generic[Who]):
    """A bound, and who shares it: a user, a client id, a client id of one user, an address."""

    bound: float
    shared_by: Who


def limit_of_client(limits: Mapping[Entity, float], client: Client) -> Limit[Client] | None:
    """Return the limit of the closest entity that has one: a user's comes before a client id's."""
    user, client_id = client
    for named_user in (user, None):
        for named_id in (client_id, None) if client_id else ():
            bound = limits.get(entity_of({USER: named_user, CLIENT_ID: named_id}))
            if bound is not None:
                return Limit(bound, client)
        bound = limits.get(entity_of({USER: named_user}))
        if bound is not None:
            return Limit(bound, Client(user, ""))
    for named_id in (client_id, None) if client_id else ():
        bound = limits.get(entity_of({CLIENT_ID: named_id}))
        if bound is not None:
            return Limit(bound, Client("", client_id))
    return None


def limit_of_address(limits: Mapping[Entity, float], address: str) -> Limit[str] | None:
    """Return the limit of an address, or that of all addresses without one of their own."""
    for name in (address, None):
        bound = limits.get(entity_of({IP: name}))
        if bound is not None:
            return Limit(bound, address)
    return None
