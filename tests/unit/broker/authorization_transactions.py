"""What is asked of producers and of transactions."""

from __future__ import annotations

from tests.unit.broker.authorization_case import (
    CLUSTER,
    GROUP,
    NO_CLUSTER,
    NO_TOPIC,
    NO_TRANSACTIONAL_ID,
    TOPIC,
    TRANSACTIONAL_ID,
    Case,
    named,
)

from headwater.protocol.api_keys import ApiKey

OF_TRANSACTIONS = [
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
