"""What compaction knows of transactions: whose records were aborted, which markers can go.

A marker stays until no record of its transaction is left, and then until its delete horizon, so
that a reader who is in the middle of the transaction still learns how it ended.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from headwater.log.records.end_txn_marker import decode_marker

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.log.indexes.txn_index import AbortedTxn
    from headwater.log.records.batch import BatchHeader, Buffer


class CleanedTransactions:
    """Follows the transactions of a log while its batches are read in order.

    Without a list of the aborted ones nothing is known about any: all is kept, and no record of a
    transaction counts as a newer value of its key.
    """

    def __init__(self, aborted: Iterable[AbortedTxn] | None) -> None:
        self._is_known = aborted is not None
        self._ahead = deque(sorted(aborted or (), key=lambda txn: txn.first_offset))
        self._aborted: dict[int, AbortedTxn] = {}
        self._with_records: set[int] = set()
        self._retained: list[AbortedTxn] = []

    def is_undecided(self, header: BatchHeader) -> bool:
        """Whether a batch belongs to a transaction of which nobody said how it ended."""
        return header.is_transactional and not self._is_known

    def is_aborted(self, header: BatchHeader) -> bool:
        """Take note of a batch of records; True if its transaction was aborted."""
        if not header.is_transactional or not self._is_known:
            return False
        self._with_records.add(header.producer_id)
        return self._aborted_at(header) is not None

    def is_marker_of_nothing(self, header: BatchHeader, batch: Buffer) -> bool:
        """Take note of a control batch; True if no record of its transaction was seen."""
        if not self._is_known:
            return False
        if not header.record_count:
            return True
        if decode_marker(batch) is None:
            return False
        if header.producer_id not in self._with_records:
            return True
        self._with_records.remove(header.producer_id)
        aborted = self._aborted_at(header)
        if aborted is not None:
            self._retained.append(aborted)
        return False

    def take_retained(self) -> list[AbortedTxn]:
        """Aborted transactions whose markers were kept since the last call."""
        retained, self._retained = self._retained, []
        return retained

    def _aborted_at(self, header: BatchHeader) -> AbortedTxn | None:
        while self._ahead and self._ahead[0].first_offset <= header.last_offset:
            begun = self._ahead.popleft()
            self._aborted[begun.producer_id] = begun
        aborted = self._aborted.get(header.producer_id)
        # Its marker is its last offset, so what comes after is another transaction.
        return None if aborted is None or header.last_offset > aborted.last_offset else aborted
