"""Kafka's demands: for each API a request, the rights that it takes, and the errors without them.

From the operations and resources of Kafka's protocol documentation, and from what its request
handlers put into their answers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.integration import raw_transactions
from tests.integration.record_batches import batch_of

from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode

CLUSTER = "CLUSTER kafka-cluster"
TOPIC, GROUP, TRANSACTIONAL_ID = "TOPIC t", "GROUP g", "TRANSACTIONAL_ID x"

NOBODY_ASKS = {
    ApiKey.API_VERSIONS: "the greeting comes before anybody can have said who they are",
    ApiKey.SASL_HANDSHAKE: "it is refused where nobody logs in",
    ApiKey.SASL_AUTHENTICATE: "it is refused where nobody logs in",
    **dict.fromkeys(
        (
            ApiKey.CREATE_DELEGATION_TOKEN,
            ApiKey.RENEW_DELEGATION_TOKEN,
            ApiKey.EXPIRE_DELEGATION_TOKEN,
            ApiKey.DESCRIBE_DELEGATION_TOKEN,
        ),
        "they are refused in plain text; test_apis_delegation_tokens.py has their rights",
    ),
}

NO_TOPIC = ErrorCode.TOPIC_AUTHORIZATION_FAILED
NO_GROUP = ErrorCode.GROUP_AUTHORIZATION_FAILED
NO_CLUSTER = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
NO_TRANSACTIONAL_ID = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


class Case(NamedTuple):
    """A request, all that is asked for it, and the errors of somebody who may do nothing.

    No errors means that the answer leaves out what the client may not see.
    """

    api_key: ApiKey
    version: int
    tree: dict[str, Any]
    asks: set[str]
    errors: set[ErrorCode]


def named(by: str = "name", **more: Any) -> list[dict[str, Any]]:
    return [{by: "t", **more}]


IN_TRANSACTION = raw_transactions.batch_of(
    [b"v"], producer_id=9_999, epoch=0, sequence=0, transactional=True
)
NEW_ACL = {
    "resource_type": 2,
    "resource_name": "elsewhere",
    "principal": "User:nobody",
    "host": "*",
    "operation": 3,
    "permission_type": 3,
}

CASES = [
    Case(
        ApiKey.PRODUCE,
        9,
        {
            "acks": 1,
            "topic_data": named(partition_data=[{"index": 0, "records": batch_of([b"v"])}]),
        },
        {f"WRITE {TOPIC}"},
        {NO_TOPIC},
    ),
    Case(
        ApiKey.PRODUCE,
        9,
        {
            "acks": 1,
            "transactional_id": "x",
            "topic_data": named(partition_data=[{"index": 0, "records": IN_TRANSACTION}]),
        },
        {f"WRITE {TRANSACTIONAL_ID}", f"WRITE {TOPIC}"},
        {NO_TRANSACTIONAL_ID},
    ),
    Case(
        ApiKey.FETCH,
        12,
        {
            "replica_id": -1,
            "max_bytes": 1000,
            "topics": named("topic", partitions=[{"partition": 0}]),
        },
        {f"READ {TOPIC}"},
        {NO_TOPIC},
    ),
    Case(
        ApiKey.LIST_OFFSETS,
        7,
        {"replica_id": -1, "topics": named(partitions=[{"partition_index": 0, "timestamp": -1}])},
        {f"DESCRIBE {TOPIC}"},
        {NO_TOPIC},
    ),
    Case(ApiKey.METADATA, 12, {"topics": named()}, {f"DESCRIBE {TOPIC}"}, {NO_TOPIC}),
    Case(
        ApiKey.METADATA,
        12,
        {"topics": [{"name": "new"}], "allow_auto_topic_creation": True},
        {"DESCRIBE TOPIC new", f"CREATE {CLUSTER}"},
        {NO_TOPIC},
    ),
    Case(ApiKey.METADATA, 12, {"topics": None}, {"DESCRIBE TOPIC *"}, set()),
    Case(
        ApiKey.CREATE_TOPICS,
        7,
        {
            "topics": [{"name": "made", "num_partitions": 1, "replication_factor": 1}],
            "timeout": 1000,
        },
        {f"CREATE {CLUSTER}", "DESCRIBE_CONFIGS TOPIC made"},
        {NO_TOPIC},
    ),
    Case(
        ApiKey.DELETE_TOPICS,
        6,
        {"topics": [{"name": "missing"}]},
        {f"DELETE {CLUSTER}"},
        {NO_TOPIC},
    ),
    Case(
        ApiKey.DELETE_TOPICS,
        6,
        {"topics": [{"name": "doomed"}]},
        {f"DELETE {CLUSTER}"},
        {NO_TOPIC},
    ),
    Case(
        ApiKey.DELETE_RECORDS,
        2,
        {"topics": named(partitions=[{"partition_index": 0, "offset": 0}])},
        {f"DELETE {TOPIC}"},
        {NO_TOPIC},
    ),
    Case(
        ApiKey.CREATE_PARTITIONS,
        3,
        {"topics": named(count=2), "validate_only": True},
        {f"ALTER {TOPIC}"},
        {NO_TOPIC},
    ),
    Case(
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
        4,
        {"replica_id": -1, "topics": named("topic", partitions=[{"partition": 0}])},
        {f"CLUSTER_ACTION {CLUSTER}"},
        {NO_TOPIC},
    ),
    Case(
        ApiKey.DESCRIBE_ACLS,
        3,
        {
            "resource_type_filter": 1,
            "pattern_type_filter": 1,
            "operation": 1,
            "permission_type": 1,
        },
        {f"DESCRIBE {CLUSTER}"},
        {NO_CLUSTER},
    ),
    Case(ApiKey.CREATE_ACLS, 3, {"creations": [NEW_ACL]}, {f"ALTER {CLUSTER}"}, {NO_CLUSTER}),
    Case(
        ApiKey.DELETE_ACLS,
        3,
        {
            "filters": [
                {
                    "resource_type_filter": 2,
                    "resource_name_filter": "missing",
                    "operation": 1,
                    "permission_type": 1,
                }
            ]
        },
        {f"ALTER {CLUSTER}"},
        {NO_CLUSTER},
    ),
    Case(
        ApiKey.DESCRIBE_CONFIGS,
        4,
        {
            "resources": [
                {"resource_type": 2, "resource_name": "t"},
                {"resource_type": 4, "resource_name": "1"},
                {"resource_type": 32, "resource_name": "g"},
            ]
        },
        {
            f"DESCRIBE_CONFIGS {TOPIC}",
            f"DESCRIBE_CONFIGS {CLUSTER}",
            f"DESCRIBE_CONFIGS {GROUP}",
        },
        {NO_TOPIC, NO_CLUSTER, NO_GROUP},
    ),
    Case(
        ApiKey.ALTER_CONFIGS,
        2,
        {
            "resources": [
                {"resource_type": 2, "resource_name": "t"},
                {"resource_type": 4, "resource_name": ""},
                {"resource_type": 32, "resource_name": "g"},
            ],
            "validate_only": True,
        },
        {f"ALTER_CONFIGS {TOPIC}", f"ALTER_CONFIGS {CLUSTER}", f"ALTER_CONFIGS {GROUP}"},
        {NO_TOPIC, NO_CLUSTER, NO_GROUP},
    ),
    Case(
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        1,
        {
            "resources": [
                {"resource_type": 2, "resource_name": "t"},
                {"resource_type": 4, "resource_name": ""},
                {"resource_type": 32, "resource_name": "g"},
            ],
            "validate_only": True,
        },
        {f"ALTER_CONFIGS {TOPIC}", f"ALTER_CONFIGS {CLUSTER}", f"ALTER_CONFIGS {GROUP}"},
        {NO_TOPIC, NO_CLUSTER, NO_GROUP},
    ),
    Case(
        ApiKey.LIST_CONFIG_RESOURCES,
        1,
        {"resource_types": [2]},
        {f"DESCRIBE_CONFIGS {CLUSTER}"},
        {NO_CLUSTER},
    ),
    Case(
        ApiKey.DESCRIBE_CLIENT_QUOTAS,
        1,
        {"components": []},
        {f"DESCRIBE_CONFIGS {CLUSTER}"},
        {NO_CLUSTER},
    ),
    Case(
        ApiKey.ALTER_CLIENT_QUOTAS,
        1,
        {
            "entries": [
                {
                    "entity": [{"entity_type": "user", "entity_name": "u"}],
                    "ops": [{"key": "producer_byte_rate", "value": 5.0}],
                }
            ],
            "validate_only": True,
        },
        {f"ALTER_CONFIGS {CLUSTER}"},
        {NO_CLUSTER},
    ),
    Case(
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
        0,
        # By name: Apache Kafka does not answer at all who asks for all users and may not.
        {"users": [{"name": "u"}]},
        {f"DESCRIBE {CLUSTER}"},
        {NO_CLUSTER},
    ),
    Case(
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        0,
        {"deletions": [{"name": "u", "mechanism": 1}], "upsertions": []},
        {f"ALTER {CLUSTER}"},
        {NO_CLUSTER},
    ),
    Case(ApiKey.DESCRIBE_LOG_DIRS, 4, {"topics": None}, {f"DESCRIBE {CLUSTER}"}, {NO_CLUSTER}),
    Case(
        ApiKey.ELECT_LEADERS,
        2,
        {"topic_partitions": named("topic", partitions=[0])},
        {f"ALTER {CLUSTER}"},
        {NO_CLUSTER},
    ),
    Case(
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        0,
        {"topics": None},
        {f"DESCRIBE {CLUSTER}"},
        {NO_CLUSTER},
    ),
    Case(
        ApiKey.DESCRIBE_CLUSTER,
        1,
        {"include_cluster_authorized_operations": True, "endpoint_type": 1},
        {
            f"{operation} {CLUSTER}"
            for operation in (
                "CREATE",
                "ALTER",
                "DESCRIBE",
                "CLUSTER_ACTION",
                "DESCRIBE_CONFIGS",
                "ALTER_CONFIGS",
                "IDEMPOTENT_WRITE",
            )
        },
        set(),
    ),
    Case(
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
        0,
        {"topics": named(), "response_partition_limit": 10},
        {
            f"{operation} {TOPIC}"
            for operation in (
                "READ",
                "WRITE",
                "CREATE",
                "DELETE",
                "ALTER",
                "DESCRIBE",
                "DESCRIBE_CONFIGS",
                "ALTER_CONFIGS",
            )
        },
        {NO_TOPIC},
    ),
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
    Case(
        ApiKey.INIT_PRODUCER_ID,
        4,
        {
            "transactional_id": "x",
            "transaction_timeout": 1000,
            "producer_epoch": -1,
            "producer_id": -1,
        },
        {f"WRITE {TRANSACTIONAL_ID}"},
        {NO_TRANSACTIONAL_ID},
    ),
    Case(
        ApiKey.INIT_PRODUCER_ID,
        4,
        {"transactional_id": None, "producer_epoch": -1, "producer_id": -1},
        {f"IDEMPOTENT_WRITE {CLUSTER}"},
        {NO_CLUSTER},
    ),
    Case(
        ApiKey.ADD_PARTITIONS_TO_TXN,
        3,
        {
            "v3_and_below_transactional_id": "x",
            "v3_and_below_topics": named(partitions=[0]),
        },
        {f"WRITE {TRANSACTIONAL_ID}", f"WRITE {TOPIC}"},
        {NO_TRANSACTIONAL_ID},
    ),
    Case(
        ApiKey.ADD_PARTITIONS_TO_TXN,
        5,
        {"transactions": [{"transactional_id": "x", "topics": named(partitions=[0])}]},
        {f"CLUSTER_ACTION {CLUSTER}"},
        {NO_CLUSTER},
    ),
    Case(
        ApiKey.ADD_OFFSETS_TO_TXN,
        3,
        {"transactional_id": "x", "group_id": "g"},
        {f"WRITE {TRANSACTIONAL_ID}", f"READ {GROUP}"},
        {NO_TRANSACTIONAL_ID},
    ),
    Case(
        ApiKey.END_TXN,
        3,
        {"transactional_id": "x"},
        {f"WRITE {TRANSACTIONAL_ID}"},
        {NO_TRANSACTIONAL_ID},
    ),
    Case(
        ApiKey.WRITE_TXN_MARKERS,
        1,
        {"markers": [{"topics": [{"name": "missing", "partition_indexes": [0]}]}]},
        {f"ALTER {CLUSTER}"},
        {NO_CLUSTER},
    ),
    Case(
        ApiKey.TXN_OFFSET_COMMIT,
        3,
        {
            "transactional_id": "x",
            "group_id": "g",
            "topics": named(partitions=[{"partition_index": 0}]),
        },
        {f"WRITE {TRANSACTIONAL_ID}", f"READ {GROUP}", f"READ {TOPIC}"},
        {NO_TRANSACTIONAL_ID},
    ),
    Case(
        ApiKey.DESCRIBE_PRODUCERS,
        0,
        {"topics": named(partition_indexes=[0])},
        {f"READ {TOPIC}"},
        {NO_TOPIC},
    ),
    Case(
        ApiKey.DESCRIBE_TRANSACTIONS,
        0,
        {"transactional_ids": ["x"]},
        {f"DESCRIBE {TRANSACTIONAL_ID}"},
        {NO_TRANSACTIONAL_ID},
    ),
    Case(ApiKey.LIST_TRANSACTIONS, 1, {}, {f"DESCRIBE {TRANSACTIONAL_ID}"}, set()),
]
