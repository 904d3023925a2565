"""Checks what an operator wants to change about quotas, and says what is set after it."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.quotas.entity import CLIENT_ID, IP, TYPES, USER, describe
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.broker.quotas.entity import Entity

PRODUCER_BYTE_RATE = "producer_byte_rate"
CONSUMER_BYTE_RATE = "consumer_byte_rate"
REQUEST_PERCENTAGE = "request_percentage"
CONTROLLER_MUTATION_RATE = "controller_mutation_rate"
CONNECTION_CREATION_RATE = "connection_creation_rate"

_CLIENT_KEYS = {
    PRODUCER_BYTE_RATE, CONSUMER_BYTE_RATE, REQUEST_PERCENTAGE, CONTROLLER_MUTATION_RATE,
}  # fmt: skip
_WHOLE_UP_TO = {
    PRODUCER_BYTE_RATE: 2**63 - 1,
    CONSUMER_BYTE_RATE: 2**63 - 1,
    CONNECTION_CREATION_RATE: 2**31 - 1,
}
_ROUNDING = 1e-6


class Operation(NamedTuple):
    """One quota to set, or to remove where there is no value."""

    key: str
    value: float | None


def quotas_after(
    entity: Entity, before: Mapping[str, float], operations: Sequence[Operation]
) -> dict[str, float]:
    """Return what is set for an entity afterwards; raises KafkaError for a wrong request."""
    keys = _keys_for(entity)
    after = dict(before)
    seen: set[str] = set()
    for key, value in operations:
        if key in seen:
            raise _wrong(f"the request names {key} twice for {describe(entity)}")
        seen.add(key)
        if value is None:
            after.pop(key, None)
        else:
            _check_value(key, value, keys)
            after[key] = value
    return after


def _keys_for(entity: Entity) -> set[str]:
    if not entity:
        raise _wrong("a quota needs a user, a client id or an address that it is for")
    for kind, name in entity:
        if kind not in TYPES:
            raise _wrong(f"quotas are for {', '.join(TYPES)}, not for {kind!r}")
        if name == "":
            raise _wrong(f"the {kind} is empty; leave its name out to mean all others")
    names = dict(entity)
    if IP not in names:
        return _CLIENT_KEYS
    if USER in names or CLIENT_ID in names:
        raise _wrong("a quota for an address can't be for a user or a client id as well")
    _check_address(names[IP])
    return {CONNECTION_CREATION_RATE}


def _check_address(address: str | None) -> None:
    if address is None:
        return
    from ipaddress import ip_address  # which few brokers need

    try:
        ip_address(address)
    except ValueError:
        raise _wrong(f"{address!r} is not an IP address") from None


def _check_value(key: str, value: float, keys: set[str]) -> None:
    if key not in keys:
        raise _wrong(f"{key!r} can't be set here; there are {', '.join(sorted(keys))}")
    if not isfinite(value) or value <= 0:
        raise _wrong(f"{key} must be above zero, not {value}")
    most = _WHOLE_UP_TO.get(key)
    if most is None:
        return
    if value > most:
        raise _wrong(f"{key} must be at most {most}, not {value}")
    if value % 1 > _ROUNDING:
        raise _wrong(f"{key} must be a whole number, not {value}")


def _wrong(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
