"""Share groups as their coordinators tell of them: members, offsets, and what they leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.clients.raw.group_members import share_groups
from headwater.metrics.cluster_state import Owner, ShareGroupState, SharePartition
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode
from headwater.protocol.messages import decode_response, encode_response

if TYPE_CHECKING:
    from collections.abc import Mapping

NO_ID = bytes(16)


def _answer(api: ApiKey, version: int, tree: Mapping[str, Any]) -> Any:
    return decode_response(api, version, memoryview(encode_response(api, version, tree)))


def _described(*names: str) -> Any:
    partitions = {"topic_id": NO_ID, "topic_name": "orders", "partitions": [0, 1]}
    member = {
        "member_id": "m1",
        "client_id": "ann",
        "client_host": "/10.0.0.1",
        "assignment": {"topic_partitions": [partitions]},
    }
    groups = [{"group_id": name, "group_state": "Stable", "members": [member]} for name in names]
    gone = {"group_id": "gone", "error_code": ErrorCode.GROUP_ID_NOT_FOUND}
    return _answer(ApiKey.SHARE_GROUP_DESCRIBE, 1, {"groups": [*groups, gone]})


def _offsets(version: int) -> Any:
    partitions = [
        {"partition_index": 0, "start_offset": 5, "lag": 7},
        {"partition_index": 1, "start_offset": -1, "lag": -1},
        {"partition_index": 2, "error_code": ErrorCode.TOPIC_AUTHORIZATION_FAILED},
    ]
    topics = [{"topic_name": "orders", "topic_id": NO_ID, "partitions": partitions}]
    refused = {"group_id": "secret", "error_code": ErrorCode.GROUP_AUTHORIZATION_FAILED}
    tree = {"groups": [{"group_id": "share", "topics": topics}, refused]}
    return _answer(ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, version, tree)


def test_members_and_offsets_together() -> None:
    ann = Owner("m1", "/10.0.0.1", "ann")
    share, secret = share_groups(_described("share", "secret"), _offsets(1))
    told = {
        ("orders", 0): SharePartition(5, 7, [ann]),
        ("orders", 1): SharePartition(None, None, [ann]),
    }
    assert share == ShareGroupState("share", "Stable", 1, told)
    assert secret.partitions["orders", 0] == SharePartition(None, None, [ann])


def test_brokers_that_do_not_know_the_lag_yet() -> None:
    (share,) = share_groups(_described("share"), _offsets(0))
    assert share.partitions["orders", 0].start_offset == 5
    assert share.partitions["orders", 0].lag is None
