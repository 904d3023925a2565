"""How many bytes partitions take on their brokers; client libraries have no call for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.clients.errors import ClientError
from headwater.clients.raw.admin import check
from headwater.protocol.api_keys import ApiKey

if TYPE_CHECKING:
    from headwater.clients.raw.admin import Node, RawAdmin

_VERSION = 4  # the first that tells how much room there is


class LogDirectory(NamedTuple):
    """A directory of a broker; its partitions are by topic and number, with their bytes."""

    broker: int
    path: str
    total_bytes: int
    usable_bytes: int
    partitions: dict[tuple[str, int], int]


def log_directories(admin: RawAdmin) -> list[LogDirectory]:
    """Return those of all brokers that answer; raises ClientError if none does."""
    found: list[LogDirectory] = []
    failure: ClientError | None = None
    for node in admin.brokers():
        try:
            found += _of(admin, node)
        except ClientError as silence:
            failure = silence
    if not found and failure is not None:
        raise failure
    return found


def _of(admin: RawAdmin, node: Node) -> list[LogDirectory]:
    answer = admin.ask(node, ApiKey.DESCRIBE_LOG_DIRS, _VERSION, {"topics": None})
    check(answer.error_code, f"asking broker {node.id} for its log directories")
    return [
        LogDirectory(
            node.id,
            directory.log_dir,
            directory.total_bytes,
            directory.usable_bytes,
            {
                (topic.name, partition.partition_index): partition.partition_size
                for topic in directory.topics
                for partition in topic.partitions
                if not partition.is_future_key
            },
        )
        for directory in answer.results
    ]
