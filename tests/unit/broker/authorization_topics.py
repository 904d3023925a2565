"""What is asked of records and topics."""

from __future__ import annotations

from tests.integration import raw_transactions
from tests.integration.record_batches import batch_of
from tests.unit.broker.authorization_case import (
    CLUSTER,
    NO_TOPIC,
    NO_TRANSACTIONAL_ID,
    TOPIC,
    TRANSACTIONAL_ID,
    Case,
    named,
)

from headwater.protocol.api_keys import ApiKey

IN_TRANSACTION = raw_transactions.batch_of(
    [b"v"], producer_id=9_999, epoch=0, sequence=0, transactional=True
)
OF_TOPICS = [
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
]
