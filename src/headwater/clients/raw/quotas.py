"""Quotas of a cluster: how much users, client ids and addresses may use."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.clients.errors import ClientError
from headwater.clients.raw.admin import error_name
from headwater.protocol.api_keys import ApiKey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.clients.raw.admin import RawAdmin

ENTITY_TYPES = ("user", "client-id", "ip")
_EXACT, _DEFAULT = 0, 1
_VERSION = 1

Entity = dict[str, str | None]
"""Names by type; None stands for all that have no quota of their own."""


class Quota(NamedTuple):
    """What some may use."""

    entity: Entity
    key: str
    value: float

    @property
    def order(self) -> tuple[list[tuple[str, str]], str]:
        """By whom it is for, and by what it limits."""
        return [(kind, name or "") for kind, name in sorted(self.entity.items())], self.key


def list_quotas(admin: RawAdmin, of: Entity | None = None) -> list[Quota]:
    """Return all quotas, or those of some entities; raises ClientError."""
    wanted = {
        "components": [
            {"entity_type": kind, "match_type": _EXACT if name else _DEFAULT, "match": name}
            for kind, name in (of or {}).items()
        ],
        "strict": False,
    }
    answer = admin.ask(admin.brokers()[0], ApiKey.DESCRIBE_CLIENT_QUOTAS, _VERSION, wanted)
    if answer.error_code:
        raise ClientError(answer.error_message or error_name(answer.error_code))
    found = [
        Quota({part.entity_type: part.entity_name for part in entry.entity}, value.key, value.value)
        for entry in answer.entries or ()
        for value in entry.values
    ]
    return sorted(found, key=lambda each: each.order)


def alter_quotas(
    admin: RawAdmin, entity: Entity, changes: Mapping[str, float | None], *, validate_only: bool
) -> None:
    """Set limits; None takes one away. Raises ClientError."""
    operations = [
        {"key": key, "value": 0.0 if value is None else value, "remove": value is None}
        for key, value in changes.items()
    ]
    entry = {
        "entity": [{"entity_type": kind, "entity_name": name} for kind, name in entity.items()],
        "ops": operations,
    }
    body = {"entries": [entry], "validate_only": validate_only}
    answer = admin.ask(admin.brokers()[0], ApiKey.ALTER_CLIENT_QUOTAS, _VERSION, body)
    (result,) = answer.entries
    if result.error_code:
        raise ClientError(result.error_message or error_name(result.error_code))
