"""What is asked of groups and of those that coordinate."""

from __future__ import annotations

from tests.unit.broker.authorization_case import (
    CLUSTER,
    GROUP,
    NO_GROUP,
    NO_TRANSACTIONAL_ID,
    TOPIC,
    TRANSACTIONAL_ID,
    Case,
    named,
)

from headwater.protocol.api_keys import ApiKey

OF_GROUPS = [
    Case(
        ApiKey.FIND_COORDINATOR,
        4,
        {"key_type": 0, "coordinator_keys": ["g"]},
        {f"DESCRIBE {GROUP}"},
        {NO_GROUP},
    ),
    Case(
        ApiKey.FIND_COORDINATOR,
        4,
        {"key_type": 1, "coordinator_keys": ["x"]},
        {f"DESCRIBE {TRANSACTIONAL_ID}"},
        {NO_TRANSACTIONAL_ID},
    ),
    Case(
        ApiKey.JOIN_GROUP,
        9,
        {"group_id": "g", "session_timeout": 10_000, "protocol_type": "consumer"},
        {f"READ {GROUP}"},
        {NO_GROUP},
    ),
    Case(
        ApiKey.SYNC_GROUP,
        5,
        {
            "group_id": "g",
            "member_id": "m",
            "protocol_type": "consumer",
            "protocol_name": "range",
        },
        {f"READ {GROUP}"},
        {NO_GROUP},
    ),
    Case(ApiKey.HEARTBEAT, 4, {"group_id": "g", "member_id": "m"}, {f"READ {GROUP}"}, {NO_GROUP}),
    Case(ApiKey.LEAVE_GROUP, 5, {"group_id": "g", "members": []}, {f"READ {GROUP}"}, {NO_GROUP}),
    Case(
        ApiKey.OFFSET_COMMIT,
        8,
        {
            "group_id": "g",
            "generation_id_or_member_epoch": -1,
            "topics": named(partitions=[{"partition_index": 0, "committed_offset": 1}]),
        },
        {f"READ {GROUP}", f"READ {TOPIC}"},
        {NO_GROUP},
    ),
    Case(
        ApiKey.OFFSET_FETCH,
        8,
        {"groups": [{"group_id": "g", "topics": named(partition_indexes=[0])}]},
        {f"DESCRIBE {GROUP}", f"DESCRIBE {TOPIC}"},
        {NO_GROUP},
    ),
    Case(
        ApiKey.OFFSET_DELETE,
        0,
        {"group_id": "g", "topics": named(partitions=[{"partition_index": 0}])},
        {f"DELETE {GROUP}", f"READ {TOPIC}"},
        {NO_GROUP},
    ),
    Case(ApiKey.DESCRIBE_GROUPS, 5, {"groups": ["g"]}, {f"DESCRIBE {GROUP}"}, {NO_GROUP}),
    Case(ApiKey.LIST_GROUPS, 4, {}, {f"DESCRIBE {CLUSTER}"}, set()),
    Case(
        ApiKey.DELETE_GROUPS,
        2,
        {"groups_names": ["missing"]},
        {"DELETE GROUP missing"},
        {NO_GROUP},
    ),
    Case(
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        1,
        {
            "group_id": "new",
            "member_id": "m",
            "member_epoch": 0,
            "rebalance_timeout": 1000,
            "subscribed_topic_names": ["t"],
            "topic_partitions": [],
        },
        {"READ GROUP new", f"DESCRIBE {TOPIC}"},
        {NO_GROUP},
    ),
    Case(
        ApiKey.CONSUMER_GROUP_DESCRIBE,
        0,
        {"group_ids": ["new"]},
        {"DESCRIBE GROUP new", f"DESCRIBE {TOPIC}"},
        {NO_GROUP},
    ),
]
