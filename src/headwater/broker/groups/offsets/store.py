"""Committed offsets of one shard, and those that wait for the end of a transaction.

An offset that is committed in a transaction counts only once the transaction is committed. It is
written at once, in a transactional batch, and kept aside until the transaction's marker:

- `prepare_txn_commit(producer_id, offsets)` when the batch is in the log;
- `complete_txn(producer_id, committed)` when the marker is.

Whoever serves TxnOffsetCommit and writes the markers does not call these on a shard's store, but
goes through the coordinator, which does the writing and the checks as well:

    broker.groups.commit_in_transaction(request, producer, reply)     # TxnOffsetCommit
    broker.groups.partition_of(group_id)                              # AddOffsetsToTxn: what to add
    broker.groups.transaction_ended(partition, producer_id, committed=...)   # after the marker

When a shard is read from the log, transactional batches and control batches lead to the very same
two calls, so that a transaction that was open when the broker died is still open afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from headwater.broker.groups.offsets.records import CommittedOffset, OffsetKey

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    ByPartition = dict[int, CommittedOffset]
    ByTopic = dict[str, ByPartition]

_NOTHING: dict[str, dict[int, CommittedOffset]] = {}


class OffsetStore:
    """Offsets by group, topic and partition."""

    def __init__(self) -> None:
        self._groups: dict[str, ByTopic] = {}
        self._pending: dict[int, dict[OffsetKey, CommittedOffset]] = {}
        self._pending_count: dict[OffsetKey, int] = defaultdict(int)

    def get(self, group_id: str, topic: str, partition: int) -> CommittedOffset | None:
        """Return how far a group has come in a partition; None if it never committed."""
        return self._groups.get(group_id, _NOTHING).get(topic, {}).get(partition)

    def of_group(self, group_id: str) -> Mapping[str, Mapping[int, CommittedOffset]]:
        """Return all that a group has committed."""
        return self._groups.get(group_id, _NOTHING)

    def group_ids(self) -> Iterable[str]:
        """Return the groups that have committed anything."""
        return self._groups.keys()

    def keys_of_group(self, group_id: str) -> list[OffsetKey]:
        """Return the keys of all that a group has committed, also in open transactions."""
        keys = dict.fromkeys(
            OffsetKey(group_id, topic, partition)
            for topic, partitions in self.of_group(group_id).items()
            for partition in partitions
        )
        keys.update(
            (key, None)
            for offsets in self._pending.values()
            for key in offsets
            if key.group_id == group_id
        )
        return list(keys)

    def keys_of_topic(self, topic: str) -> list[OffsetKey]:
        """Return the keys of all that any group has committed for a topic."""
        keys = dict.fromkeys(
            OffsetKey(group_id, topic, partition)
            for group_id, topics in self._groups.items()
            for partition in topics.get(topic, ())
        )
        keys.update(
            (key, None)
            for offsets in self._pending.values()
            for key in offsets
            if key.topic == topic
        )
        return list(keys)

    def put(self, key: OffsetKey, committed: CommittedOffset) -> None:
        """Take a commit, unless one that lies further on in the log is there already."""
        partitions = self._groups.setdefault(key.group_id, {}).setdefault(key.topic, {})
        present = partitions.get(key.partition)
        if present is None or committed.record_offset >= present.record_offset:
            partitions[key.partition] = committed

    def remove(self, key: OffsetKey) -> None:
        """Forget an offset, also where it waits in a transaction."""
        topics = self._groups.get(key.group_id)
        if topics is not None and key.topic in topics:
            topics[key.topic].pop(key.partition, None)
            if not topics[key.topic]:
                del topics[key.topic]
            if not topics:
                del self._groups[key.group_id]
        if key in self._pending_count:
            for offsets in self._pending.values():
                offsets.pop(key, None)
            del self._pending_count[key]

    def prepare_txn_commit(
        self, producer_id: int, offsets: Iterable[tuple[OffsetKey, CommittedOffset]]
    ) -> None:
        """Keep offsets aside until the transaction of a producer ends."""
        pending = self._pending.setdefault(producer_id, {})
        for key, committed in offsets:
            if key not in pending:
                self._pending_count[key] += 1
            pending[key] = committed

    def complete_txn(self, producer_id: int, committed: bool) -> None:
        """Take what a producer's transaction committed, or forget it."""
        pending = self._pending.pop(producer_id, {})
        for key, offset in pending.items():
            self._pending_count[key] -= 1
            if not self._pending_count[key]:
                del self._pending_count[key]
            if committed:
                # A plain commit that came later in the log stays: so it is after compaction, too.
                self.put(key, offset)

    def is_pending(self, key: OffsetKey) -> bool:
        """Whether an open transaction may still move an offset."""
        return key in self._pending_count

    def has_open_transaction(self, group_id: str) -> bool:
        """Whether any open transaction has offsets of a group."""
        return any(key.group_id == group_id for key in self._pending_count)
