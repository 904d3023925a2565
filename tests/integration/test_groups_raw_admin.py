"""List, describe and delete groups over the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kio.schema.errors import ErrorCode
from tests.integration.raw_groups import (
    RANGE,
    commit,
    committed,
    describe,
    fresh_group,
    leave,
    quick_broker,
    stable_member,
)
from tests.integration.raw_requests import Topic, create_topic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.broker_process import BrokerProcess
    from tests.integration.raw_client import RawClient

ALL_OPERATIONS = 3400
NOT_ASKED = -(2**31)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    yield from quick_broker(tmp_path_factory)


@pytest.fixture
def created(client: RawClient, topic: str) -> Topic:
    return create_topic(client, topic)


@pytest.mark.parametrize("version", range(6))
def test_lists_groups(client: RawClient, created: Topic, version: int) -> None:
    simple, stable = fresh_group("simple"), fresh_group("stable")
    commit(client, simple, {(created.name, 0): 1})
    stable_member(client, stable)
    answer = client.call("list_groups", version)
    assert answer.error_code is ErrorCode.none
    listed = {one.group_id: one for one in answer.groups}
    assert (listed[simple].protocol_type, listed[stable].protocol_type) == ("", "consumer")
    if version >= 4:
        assert (listed[simple].group_state, listed[stable].group_state) == ("Empty", "Stable")
    if version >= 5:
        assert listed[simple].group_type == listed[stable].group_type == "classic"


@pytest.mark.parametrize(
    ("states", "types", "found"),
    [
        ([], [], True),
        (["Empty"], [], True),
        (["empty", "stable"], ["CLASSIC"], True),
        (["Stable"], [], False),
        ([], ["consumer"], False),
        (["NoSuchState"], [], False),
        ([], ["no-such-type"], False),
    ],
)
def test_filters_the_list(
    client: RawClient, created: Topic, states: list[str], types: list[str], found: bool
) -> None:
    group = fresh_group()
    commit(client, group, {(created.name, 0): 1})
    answer = client.call("list_groups", 5, states_filter=states, types_filter=types)
    assert answer.error_code is ErrorCode.none
    assert any(one.group_id == group for one in answer.groups) is found


@pytest.mark.parametrize("version", range(7))
def test_describes_groups(client: RawClient, version: int) -> None:
    group, missing = fresh_group(), fresh_group()
    me = stable_member(client, group, instance="alpha")
    answer = client.call(
        "describe_groups", version, groups=[group, missing], include_authorized_operations=True
    )
    described = {one.group_id: one for one in answer.groups}
    here, gone = described[group], described[missing]
    assert here.error_code is ErrorCode.none
    assert (here.group_state, here.protocol_type, here.protocol_data) == (
        "Stable",
        "consumer",
        "range",
    )
    (member,) = here.members
    assert (member.member_id, member.client_id, member.client_host) == (
        me.member_id,
        "raw",
        "/127.0.0.1",
    )
    assert (member.member_metadata, member.member_assignment) == (RANGE["metadata"], b"all")
    if version >= 4:
        assert member.group_instance_id == "alpha"
    if version >= 3:
        assert here.authorized_operations == ALL_OPERATIONS
    assert gone.group_state == "Dead"
    if version >= 6:
        assert gone.error_code is ErrorCode.group_id_not_found
        assert missing in gone.error_message
    else:
        assert gone.error_code is ErrorCode.none


def test_operations_are_described_on_request_only(client: RawClient) -> None:
    group = fresh_group()
    stable_member(client, group)
    assert describe(client, group).authorized_operations == NOT_ASKED


@pytest.mark.parametrize("version", range(3))
def test_deletes_groups(client: RawClient, created: Topic, version: int) -> None:
    simple, empty, busy, missing = (fresh_group() for _ in range(4))
    commit(client, simple, {(created.name, 0): 1})
    me = stable_member(client, empty)
    commit(client, empty, {(created.name, 0): 2}, member=me.member_id, generation=1)
    leave(client, empty, me.member_id)
    stable_member(client, busy)
    answer = client.call("delete_groups", version, groups_names=[simple, empty, busy, missing])
    assert {one.group_id: one.error_code for one in answer.results} == {
        simple: ErrorCode.none,
        empty: ErrorCode.none,
        busy: ErrorCode.non_empty_group,
        missing: ErrorCode.group_id_not_found,
    }
    assert describe(client, simple).group_state == describe(client, empty).group_state == "Dead"
    assert committed(client, simple, None) == committed(client, empty, None) == {}
    assert describe(client, busy).group_state == "Stable"


def test_a_deleted_group_can_begin_anew(client: RawClient) -> None:
    group = fresh_group()
    leave(client, group, stable_member(client, group).member_id)
    client.call("delete_groups", 2, groups_names=[group])
    assert stable_member(client, group).generation_id == 1
