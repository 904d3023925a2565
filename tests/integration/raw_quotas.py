"""The raw client's requests about quotas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kio.schema.errors import ErrorCode
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.integration.raw_client import RawClient

Names = dict[str, str | None]
Component = tuple[str, int, str | None]

EXACT, DEFAULT, SPECIFIED = 0, 1, 2


def entry(names: Names | list[tuple[str, str | None]], **values: float | None) -> dict[str, Any]:
    """One alteration: what to set for whom; None removes."""
    pairs = names.items() if isinstance(names, dict) else names
    return {
        "entity": [{"entity_type": kind, "entity_name": name} for kind, name in pairs],
        "ops": [
            {"key": key, "value": value or 0.0, "remove": value is None}
            for key, value in values.items()
        ],
    }


def alter(
    client: RawClient, *entries: dict[str, Any], version: int = 1, validate_only: bool = False
) -> dict[frozenset[tuple[str, str | None]], ErrorCode]:
    """Alter quotas; what became of each entity."""
    answer = client.call(
        "alter_client_quotas", version, entries=entries, validate_only=validate_only
    )
    results = {}
    for result in answer.entries:
        assert (result.error_message is None) == (result.error_code is ErrorCode.none)
        results[frozenset((e.entity_type, e.entity_name) for e in result.entity)] = (
            result.error_code
        )
    return results


def describe(
    client: RawClient, *components: Component, strict: bool = False, version: int = 1
) -> dict[frozenset[tuple[str, str | None]], dict[str, float]] | ErrorCode:
    """The quotas that a filter picks, or the error."""
    answer = client.call(
        "describe_client_quotas",
        version,
        components=[
            {"entity_type": kind, "match_type": match_type, "match": match}
            for kind, match_type, match in components
        ],
        strict=strict,
    )
    if answer.entries is None:
        assert answer.error_message
        return ErrorCode(answer.error_code)
    assert answer.error_code is ErrorCode.none
    return {
        frozenset((e.entity_type, e.entity_name) for e in found.entity): {
            value.key: value.value for value in found.values
        }
        for found in answer.entries
    }


def set_quotas(client: RawClient, names: Names, **values: float | None) -> None:
    """Alter the quotas of one entity and wait until the broker goes by them."""
    assert list(alter(client, entry(names, **values)).values()) == [ErrorCode.none]
    wanted = {key: value for key, value in values.items() if value is not None}
    exact = [(k, DEFAULT if n is None else EXACT, n) for k, n in names.items()]

    def present() -> dict[str, float]:
        found = describe(client, *exact, strict=True)
        assert isinstance(found, dict)
        return found.get(frozenset(names.items()), {})

    # Apache Kafka answers before the change has reached its broker half.
    wait_for(
        present,
        until=lambda found: (
            wanted.items() <= found.items() and not found.keys() & (values.keys() - wanted)
        ),
    )
