"""What is asked of the cluster: ACLs, configs, quotas, users, where its partitions are."""

from __future__ import annotations

from tests.unit.broker.authorization_case import (
    CLUSTER,
    GROUP,
    NO_CLUSTER,
    NO_GROUP,
    NO_TOPIC,
    TOPIC,
    Case,
    named,
)

from headwater.protocol.api_keys import ApiKey

NEW_ACL = {
    "resource_type": 2,
    "resource_name": "elsewhere",
    "principal": "User:nobody",
    "host": "*",
    "operation": 3,
    "permission_type": 3,
}

OF_CLUSTER = [
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
]
