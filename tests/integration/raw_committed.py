"""What readers of committed records and operators see of transactions, over the raw protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.integration.raw_requests import (
    Topic,
    fetch_partition,
    fetch_topic,
)
from tests.integration.raw_transactions import (
    READ_COMMITTED,
)
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.integration.raw_client import RawClient

LATEST = -1


def fetched(client: RawClient, topic: Topic, *, version: int = 12, partition: int = 0) -> Any:
    """What a reader of committed records gets of a whole partition."""
    answer = client.call(
        "fetch",
        version,
        max_wait=0,
        min_bytes=0,
        max_bytes=50 << 20,
        isolation_level=READ_COMMITTED,
        topics=[fetch_topic(topic, fetch_partition(partition))],
    )
    return answer.responses[0].partitions[0]


def committed_end(client: RawClient, topic: Topic) -> int:
    answer = client.call(
        "list_offsets",
        11,
        replica_id=-1,
        isolation_level=READ_COMMITTED,
        timeout=30_000,
        topics=[
            {
                "name": topic.name,
                "partitions": [
                    {"partition_index": 0, "timestamp": LATEST, "current_leader_epoch": -1}
                ],
            }
        ],
    )
    return int(answer.topics[0].partitions[0].offset)


def wait_for_end(client: RawClient, topic: Topic, offset: int) -> None:
    """Markers may come shortly after the answer to EndTxn."""
    wait_for(lambda: committed_end(client, topic), until=lambda end: end >= offset)


def describe(client: RawClient, transactional_id: str) -> Any:
    answer = client.call("describe_transactions", 0, transactional_ids=[transactional_id])
    (state,) = answer.transaction_states
    return state


def wait_for_state(client: RawClient, transactional_id: str, state: str) -> None:
    """What a coordinator notes about a transaction may come shortly after its markers."""
    wait_for(
        lambda: describe(client, transactional_id),
        until=lambda described: described.transaction_state == state,
    )
