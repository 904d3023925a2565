"""Whose limit counts for a client."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.broker.quotas.entity import CLIENT_ID, IP, USER, entity_of
from headwater.broker.quotas.limit import Client, limit_of_address, limit_of_client
from headwater.broker.quotas.quota import Quota
from headwater.broker.quotas.rate import SampledRate

_PRECEDENCE: list[dict[str, str | None]] = [
    {USER: "ann", CLIENT_ID: "app"},
    {USER: "ann", CLIENT_ID: None},
    {USER: "ann"},
    {USER: None, CLIENT_ID: "app"},
    {USER: None, CLIENT_ID: None},
    {USER: None},
    {CLIENT_ID: "app"},
    {CLIENT_ID: None},
]
"""As Kafka's documentation has it, the first that is set wins."""
_FOREIGN: list[dict[str, str | None]] = [
    {USER: "bob"},
    {CLIENT_ID: "other"},
    {USER: "bob", CLIENT_ID: "app"},
]


@given(st.sets(st.integers(0, len(_PRECEDENCE) - 1)))
def test_the_closest_limit_wins(chosen: set[int]) -> None:
    limits = {entity_of(_PRECEDENCE[i]): float(i + 1) for i in chosen}
    limits |= {entity_of(names): 99.0 for names in _FOREIGN}
    limit = limit_of_client(limits, Client("ann", "app"))
    if not chosen:
        assert limit is None
        return
    winner = _PRECEDENCE[min(chosen)]
    assert limit is not None
    assert limit.bound == min(chosen) + 1
    assert limit.shared_by == Client(
        "ann" if USER in winner else "", "app" if CLIENT_ID in winner else ""
    )


def test_who_has_no_client_id_has_no_quota_of_client_ids() -> None:
    limits = {
        entity_of({CLIENT_ID: None}): 1.0,
        entity_of({USER: "ann", CLIENT_ID: None}): 2.0,
    }
    assert limit_of_client(limits, Client("ann", "")) is None
    limits[entity_of({USER: "ann"})] = 3.0
    limit = limit_of_client(limits, Client("ann", ""))
    assert limit is not None
    assert limit.bound == 3


def test_an_address_without_a_limit_has_that_of_all_others() -> None:
    limits = {entity_of({IP: "10.0.0.1"}): 1.0, entity_of({IP: None}): 2.0}
    assert limit_of_address(limits, "10.0.0.1") == (1.0, "10.0.0.1")
    assert limit_of_address(limits, "10.0.0.2") == (2.0, "10.0.0.2")
    assert limit_of_address({}, "10.0.0.2") is None


def quota(**by_id: float) -> Quota[Client, SampledRate]:
    made: Quota[Client, SampledRate] = Quota(
        limit_of_client, lambda bound: SampledRate(bound, 11, 1000)
    )
    made.set_limits({entity_of({CLIENT_ID: name}): bound for name, bound in by_id.items()})
    return made


def test_a_quota_that_nobody_has_is_false() -> None:
    assert not quota()
    assert quota(app=5)


def test_clients_of_one_user_share_the_users_limit() -> None:
    shared: Quota[Client, SampledRate] = quota()
    shared.set_limits({entity_of({USER: None}): 100.0})
    assert shared.charge(Client("ann", "a"), 800, 0) == 0
    assert shared.charge(Client("ann", "b"), 800, 0) == 6000
    assert shared.charge(Client("bob", "a"), 800, 0) == 0


def test_clients_with_ids_have_a_limit_each() -> None:
    single = quota(a=100, b=100)
    assert single.charge(Client("ann", "a"), 1600, 0) == 6000
    assert single.charge(Client("ann", "b"), 800, 0) == 0
    assert single.charge(Client("bob", "a"), 0, 0) == 6000
    assert single.charge(Client("ann", "c"), 10**9, 0) == 0


def test_what_was_used_counts_under_a_changed_limit() -> None:
    changing = quota(a=100)
    client = Client("ann", "a")
    assert changing.charge(client, 800, 0) == 0
    changing.set_limits({entity_of({CLIENT_ID: "a"}): 40.0})
    assert changing.charge(client, 0, 0) == 10_000
    changing.set_limits({entity_of({CLIENT_ID: None}): 400.0})
    assert changing.charge(client, 0, 0) == 0
    changing.set_limits({})
    assert changing.charge(client, 10**9, 0) == 0


def test_what_is_kept_for_clients_that_come_and_go_does_not_pile_up() -> None:
    every = quota()
    every.set_limits({entity_of({CLIENT_ID: None}): 100.0})
    for number in range(100_000):
        every.charge(Client("ann", f"client-{number}"), 1, now_ms=number * 10)
    assert len(every.usages(now_ms=1_000_000)) <= 1100
    assert every.usages(now_ms=2_000_000) == {}


@pytest.mark.parametrize("value", [500, 1500])
def test_a_usage_remembers_who_was_made_to_wait(value: int) -> None:
    made = quota(a=100)
    throttle_ms = made.charge(Client("ann", "a"), value, now_ms=7)
    ((_, usage),) = made.usages(7).items()
    assert (usage.throttle_ms, usage.throttled_at_ms) == (throttle_ms, 7 if throttle_ms else 0)
