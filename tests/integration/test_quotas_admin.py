"""Quotas set, described and refused, as Apache Kafka does it (the same tests pass there)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kio.schema.errors import ErrorCode
from tests.integration.raw_client import RawClient
from tests.integration.raw_quotas import (
    DEFAULT,
    EXACT,
    SPECIFIED,
    Component,
    Names,
    alter,
    describe,
    entry,
    set_quotas,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.broker_process import BrokerProcess
    from tests.conftest import StartBroker

INVALID = ErrorCode.invalid_request
EVERYTHING: list[Names] = [
    {"user": "ann"},
    {"user": None},
    {"client-id": "app"},
    {"client-id": None},
    {"user": "ann", "client-id": "app"},
    {"user": "ann", "client-id": None},
    {"user": None, "client-id": "app"},
    {"user": None, "client-id": None},
]
ADDRESSES: list[Names] = [{"ip": "10.1.2.3"}, {"ip": None}]


@pytest.fixture(scope="module")
def filled(broker: BrokerProcess) -> Iterator[RawClient]:
    with RawClient(broker) as client:
        for number, names in enumerate(EVERYTHING, 1):
            set_quotas(client, names, producer_byte_rate=1e9 * number, request_percentage=2.5e6)
        for names in ADDRESSES:
            set_quotas(client, names, connection_creation_rate=10_000)
        yield client


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    "components",
    [
        [],
        [("user", EXACT, "ann")],
        [("user", DEFAULT, None)],
        [("user", SPECIFIED, None)],
        [("client-id", EXACT, "app")],
        [("client-id", EXACT, "none such")],
        [("client-id", DEFAULT, None)],
        [("user", SPECIFIED, None), ("client-id", SPECIFIED, None)],
        [("user", EXACT, "ann"), ("client-id", SPECIFIED, None)],
        [("user", DEFAULT, None), ("client-id", DEFAULT, None)],
        [("ip", SPECIFIED, None)],
        [("ip", EXACT, "10.1.2.3")],
        [("ip", DEFAULT, None)],
    ],
)
def test_filters_pick_what_kafkas_pick(
    filled: RawClient, components: list[Component], strict: bool, version: int
) -> None:
    asked = {kind: (match_type, match) for kind, match_type, match in components}

    def is_picked(names: Names) -> bool:
        if strict and names.keys() != asked.keys():
            return False
        return all(
            kind in names and (match_type == SPECIFIED or names[kind] == match)
            for kind, (match_type, match) in asked.items()
        )

    found = describe(filled, *components, strict=strict, version=version)
    assert isinstance(found, dict)
    assert found.keys() == {
        frozenset(names.items()) for names in EVERYTHING + ADDRESSES if is_picked(names)
    }
    for number, names in enumerate(EVERYTHING, 1):
        if is_picked(names):
            expected = {"producer_byte_rate": 1e9 * number, "request_percentage": 2.5e6}
            assert found[frozenset(names.items())] == expected


@pytest.mark.parametrize(
    ("components", "code"),
    [
        ([("", EXACT, "a")], INVALID),
        ([("group", EXACT, "a")], ErrorCode.unsupported_version),
        ([("user", EXACT, None)], INVALID),
        ([("user", DEFAULT, "a")], INVALID),
        ([("user", SPECIFIED, "a")], INVALID),
        ([("user", 7, None)], INVALID),
        ([("user", EXACT, "a"), ("user", SPECIFIED, None)], INVALID),
        ([("user", EXACT, "a"), ("ip", SPECIFIED, None)], INVALID),
    ],
)
def test_wrong_filters(client: RawClient, components: list[Component], code: ErrorCode) -> None:
    assert describe(client, *components) is code


@pytest.mark.parametrize(
    ("names", "values"),
    [
        ({}, {"producer_byte_rate": 5.0}),
        ({"user": ""}, {"producer_byte_rate": 5.0}),
        ({"group": "a"}, {"producer_byte_rate": 5.0}),
        ({"ip": "10.0.0.1", "user": "a"}, {"connection_creation_rate": 5.0}),
        ({"ip": "no address, that"}, {"connection_creation_rate": 5.0}),
        ({"ip": "10.0.0.1"}, {"producer_byte_rate": 5.0}),
        ({"ip": "10.0.0.1"}, {"connection_creation_rate": 2.0**31}),
        ({"ip": "10.0.0.1"}, {"connection_creation_rate": 1.5}),
        ({"user": "a"}, {"connection_creation_rate": 5.0}),
        ({"user": "a"}, {"no_such_quota": 5.0}),
        ({"user": "a"}, {"producer_byte_rate": 0.0}),
        ({"user": "a"}, {"producer_byte_rate": -5.0}),
        ({"user": "a"}, {"consumer_byte_rate": 1.25}),
        ({"user": "a"}, {"consumer_byte_rate": 2.0**64}),
        ({"user": "a"}, {"request_percentage": 0.0}),
        ({"user": "a"}, {"producer_byte_rate": 5.0, "no_such_quota": 5.0}),
    ],
)
@pytest.mark.parametrize("validate_only", [True, False])
def test_wrong_alterations(
    client: RawClient, names: Names, values: dict[str, float], validate_only: bool
) -> None:
    before = describe(client)
    results = alter(client, entry(names, **values), validate_only=validate_only)
    assert results == {frozenset(names.items()): INVALID}
    assert describe(client) == before


def test_what_is_not_there_can_be_removed(client: RawClient) -> None:
    names: Names = {"user": "nobody"}
    results = alter(client, entry(names, producer_byte_rate=None, no_such_quota=None))
    assert results == {frozenset(names.items()): ErrorCode.none}


def test_the_last_of_two_names_for_one_type_counts(client: RawClient) -> None:
    twice = entry([("user", "first"), ("user", "second")], producer_byte_rate=5.0)
    results = alter(client, twice, validate_only=True)
    assert results == {frozenset({("user", "second")}): ErrorCode.none}


def test_a_quota_twice_in_one_entry_is_refused(client: RawClient) -> None:
    twice = entry({"user": "twice"}, producer_byte_rate=5.0)
    twice["ops"] *= 2
    results = alter(client, twice, validate_only=True)
    assert results == {frozenset({("user", "twice")}): INVALID}


@pytest.mark.parametrize("version", [0, 1])
def test_a_checked_alteration_changes_nothing(client: RawClient, version: int) -> None:
    names: Names = {"client-id": "checked"}
    alteration = entry(names, producer_byte_rate=5.0)
    results = alter(client, alteration, version=version, validate_only=True)
    assert results == {frozenset(names.items()): ErrorCode.none}
    assert describe(client, ("client-id", EXACT, "checked")) == {}


def test_quotas_survive_a_kill(start_broker: StartBroker) -> None:
    broker = start_broker()
    with RawClient(broker) as client:
        set_quotas(client, {"user": None, "client-id": "app"}, consumer_byte_rate=1e9)
        set_quotas(client, {"user": "gone"}, consumer_byte_rate=1e9)
        set_quotas(client, {"user": "gone"}, consumer_byte_rate=None)
    broker.kill()
    broker.start()
    with RawClient(broker) as client:
        assert describe(client) == {
            frozenset({("user", None), ("client-id", "app")}): {"consumer_byte_rate": 1e9}
        }
