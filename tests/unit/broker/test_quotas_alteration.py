"""What may be set for whom, and what a filter picks of it."""

from __future__ import annotations

from itertools import product
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.broker.quotas.alteration import Operation, quotas_after
from headwater.broker.quotas.entity import TYPES, Entity, entity_of
from headwater.broker.quotas.filter import Component, MatchType, QuotaFilter
from headwater.protocol.errors import ErrorCode, KafkaError

APP = entity_of({"client-id": "app"})
ADDRESS = entity_of({"ip": "10.0.0.1"})


def test_quotas_are_set_changed_and_removed() -> None:
    before = {"producer_byte_rate": 5.0, "consumer_byte_rate": 6.0}
    after = quotas_after(
        APP,
        before,
        [
            Operation("producer_byte_rate", 7.0),
            Operation("consumer_byte_rate", None),
            Operation("request_percentage", 12.5),
            Operation("controller_mutation_rate", None),
        ],
    )
    assert after == {"producer_byte_rate": 7.0, "request_percentage": 12.5}
    assert before == {"producer_byte_rate": 5.0, "consumer_byte_rate": 6.0}


@pytest.mark.parametrize(
    "names",
    [
        {"user": "ann"},
        {"user": None},
        {"client-id": None},
        {"user": "ann", "client-id": "app"},
        {"user": None, "client-id": None},
    ],
)
def test_users_and_client_ids_can_have_every_quota_of_clients(names: dict[str, str | None]) -> None:
    for key in (
        "producer_byte_rate",
        "consumer_byte_rate",
        "request_percentage",
        "controller_mutation_rate",
    ):
        assert quotas_after(entity_of(names), {}, [Operation(key, 5.0)]) == {key: 5.0}
    refused(entity_of(names), "connection_creation_rate", 5.0)


@pytest.mark.parametrize("address", ["10.0.0.1", "::1", "fe80::1%eth0", None])
def test_addresses_can_have_a_rate_of_connections_and_nothing_else(address: str | None) -> None:
    entity = entity_of({"ip": address})
    key = "connection_creation_rate"
    assert quotas_after(entity, {}, [Operation(key, 5.0)]) == {key: 5.0}
    refused(entity, "producer_byte_rate", 5.0)


@pytest.mark.parametrize(
    "names",
    [
        {},
        {"user": ""},
        {"client-id": ""},
        {"group": "readers"},
        {"": "x"},
        {"ip": "10.0.0.1", "user": "ann"},
        {"ip": "10.0.0.1", "client-id": None},
        {"ip": "not an address"},
    ],
)
def test_there_are_no_quotas_for_anything_else(names: dict[str, str | None]) -> None:
    refused(entity_of(names), "producer_byte_rate", 5.0)


@pytest.mark.parametrize(
    ("entity", "key", "value"),
    [
        (APP, "producer_byte_rate", 0.0),
        (APP, "producer_byte_rate", -1.0),
        (APP, "producer_byte_rate", 1.5),
        (APP, "consumer_byte_rate", 2.0**64),
        (APP, "request_percentage", nan),
        (APP, "request_percentage", inf),
        (APP, "no_such_quota", 5.0),
        (ADDRESS, "connection_creation_rate", 2.0**31),
        (ADDRESS, "connection_creation_rate", 0.5),
    ],
)
def test_wrong_values_are_refused(entity: Entity, key: str, value: float) -> None:
    refused(entity, key, value)


def test_a_quota_is_set_once_in_a_request() -> None:
    twice = [Operation("producer_byte_rate", 5.0), Operation("producer_byte_rate", None)]
    with pytest.raises(KafkaError, match="twice") as caught:
        quotas_after(APP, {}, twice)
    assert caught.value.code == ErrorCode.INVALID_REQUEST


def refused(entity: Entity, key: str, value: float) -> None:
    with pytest.raises(KafkaError) as caught:
        quotas_after(entity, {}, [Operation(key, value)])
    assert caught.value.code == ErrorCode.INVALID_REQUEST


_ENTITIES = [
    entity_of(dict(zip(kinds, names, strict=True)))
    for kinds in (("user",), ("client-id",), ("user", "client-id"), ("ip",))
    for names in product(("a", "b", None), repeat=len(kinds))
]
_components = st.tuples(st.sampled_from(("user", "client-id")), st.sampled_from(("a", None, ...)))


@given(st.lists(_components, max_size=2, unique_by=lambda c: c[0]), st.booleans())
def test_a_filter_picks_what_has_all_that_it_names(
    components: list[tuple[str, object]], strict: bool
) -> None:
    asked = dict(components)
    picks = QuotaFilter([_component(*component) for component in components], strict=strict)
    picked = [entity for entity in _ENTITIES if picks.matches(entity)]
    expected = []
    for entity in _ENTITIES:
        names: dict[str, object] = dict(entity)
        has_all = all(kind in names and name in (..., names[kind]) for kind, name in asked.items())
        if has_all and (not strict or len(names) == len(asked)):
            expected.append(entity)
    assert picked == expected


def _component(kind: str, name: object) -> Component:
    if isinstance(name, str):
        return Component(kind, MatchType.EXACT, name)
    return Component(kind, MatchType.DEFAULT if name is None else MatchType.SPECIFIED, None)


@pytest.mark.parametrize(
    ("components", "code"),
    [
        ([Component("", 0, "a")], ErrorCode.INVALID_REQUEST),
        ([Component("group", 0, "a")], ErrorCode.UNSUPPORTED_VERSION),
        ([Component("user", 0, None)], ErrorCode.INVALID_REQUEST),
        ([Component("user", 1, "a")], ErrorCode.INVALID_REQUEST),
        ([Component("user", 2, "a")], ErrorCode.INVALID_REQUEST),
        ([Component("user", 3, None)], ErrorCode.INVALID_REQUEST),
        ([Component("user", -1, "a")], ErrorCode.INVALID_REQUEST),
        ([Component("user", 0, "a"), Component("user", 2, None)], ErrorCode.INVALID_REQUEST),
        ([Component("user", 0, "a"), Component("ip", 2, None)], ErrorCode.INVALID_REQUEST),
        ([Component("ip", 1, None), Component("client-id", 1, None)], ErrorCode.INVALID_REQUEST),
    ],
)
def test_wrong_filters_are_refused(components: list[Component], code: ErrorCode) -> None:
    with pytest.raises(KafkaError) as caught:
        QuotaFilter(components, strict=False)
    assert caught.value.code == code


def test_an_empty_filter_picks_everything_unless_it_is_strict() -> None:
    everything = QuotaFilter([], strict=False)
    nothing = QuotaFilter([], strict=True)
    assert all(everything.matches(entity) for entity in _ENTITIES)
    assert not any(nothing.matches(entity) for entity in _ENTITIES)
    assert {kind for entity in _ENTITIES for kind, _ in entity} == set(TYPES)
