"""Which batches of which producers a partition has, so that none gets in twice.

Everything here looks at batch headers only. A batch of a producer without an id never gets here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.log.errors import (
    InvalidProducerEpoch,
    InvalidTxnState,
    OutOfOrderSequence,
    TransactionCoordinatorFenced,
)
from headwater.log.indexes.txn_index import AbortedTxn
from headwater.log.producers.producer_entry import (
    NO_TRANSACTION,
    BatchMetadata,
    ProducerEntry,
    follows,
    last_sequence_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.log.records.batch import BatchHeader
    from headwater.log.records.end_txn_marker import EndTxnMarker


class ProducerStates:
    """The producers of one partition: sequences, epochs and open transactions.

    The log asks `check_client` or `check_marker` before it writes a batch and calls `update`
    afterwards; recovery calls `update` alone for what is on disk already.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._entries: dict[int, ProducerEntry] = {}
        # Offsets only grow, so this stays in order and its first key is the oldest transaction.
        self._open: dict[int, int] = {}
        self._decided: dict[int, int] = {}
        self._verified: dict[int, tuple[int, bool]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def entries(self) -> Iterable[ProducerEntry]:
        """All producers that the partition remembers."""
        return self._entries.values()

    def get(self, producer_id: int) -> ProducerEntry | None:
        """Return what is known of a producer, if anything is."""
        return self._entries.get(producer_id)

    def check_client(self, header: BatchHeader) -> BatchMetadata | None:
        """Decide on a producer's batch: new (None), a duplicate of one already there, or refused.

        Raises InvalidProducerEpoch, OutOfOrderSequence or InvalidTxnState.
        """
        producer_id, epoch = header.producer_id, header.producer_epoch
        is_transactional = header.is_transactional
        entry = self._entries.get(producer_id)
        if entry is not None and entry.epoch == epoch:
            duplicate = _duplicate_of(entry, header)
            if duplicate is not None:
                return duplicate
        if entry is not None and epoch < entry.epoch:
            raise self._stale_epoch(header, entry)
        numbered_from_zero = False
        in_transaction = entry is not None and entry.in_transaction
        if is_transactional and not (in_transaction and entry is not None and entry.epoch == epoch):
            verified_epoch, numbered_from_zero = self._verified.get(producer_id, (-1, False))
            if verified_epoch != epoch:
                raise InvalidTxnState(
                    f"Producer {producer_id} (epoch {epoch}) sent a transactional batch to "
                    f"{self._name}, which is not part of an open transaction of it. "
                    "Add the partition to the transaction first."
                )
        self._check_sequence(header, entry, numbered_from_zero=numbered_from_zero)
        if in_transaction and not is_transactional:
            raise InvalidTxnState(
                f"Producer {producer_id} has an open transaction in {self._name}, "
                "but the batch is not transactional."
            )
        return None

    def check_marker(self, header: BatchHeader, marker: EndTxnMarker) -> None:
        """Refuse a marker of a producer epoch or of a coordinator that is out of date."""
        entry = self._entries.get(header.producer_id)
        if entry is None:
            return
        if header.producer_epoch < entry.epoch:
            raise self._stale_epoch(header, entry)
        if marker.coordinator_epoch < entry.coordinator_epoch:
            raise TransactionCoordinatorFenced(
                f"The marker for producer {header.producer_id} in {self._name} is of coordinator "
                f"epoch {marker.coordinator_epoch}, but epoch {entry.coordinator_epoch} has "
                "already written one."
            )

    def check_epoch(self, header: BatchHeader) -> None:
        """Refuse what anyone writes for a producer that has been fenced."""
        entry = self._entries.get(header.producer_id)
        if entry is not None and header.producer_epoch < entry.epoch:
            raise self._stale_epoch(header, entry)

    def allow_transaction(self, producer_id: int, epoch: int, *, numbered_from_zero: bool) -> None:
        """Let the producer begin a transaction here: its coordinator knows of this partition.

        A producer of transaction version 2 starts every transaction in an epoch of its own and
        so with sequence 0 (`numbered_from_zero`), even where nothing of it is remembered.
        """
        self._verified[producer_id] = (epoch, numbered_from_zero)

    def has_transaction(self, producer_id: int, epoch: int) -> bool:
        """Whether the producer's current transaction is already open in this partition."""
        entry = self._entries.get(producer_id)
        return entry is not None and entry.epoch == epoch and entry.in_transaction

    def aborted_by(self, header: BatchHeader, marker: EndTxnMarker) -> AbortedTxn | None:
        """Return what the index of aborted transactions has to say about a marker, if anything.

        The header has the offset that the marker gets.
        """
        entry = self._entries.get(header.producer_id)
        if marker.committed or entry is None or not entry.in_transaction:
            return None
        others = (first for first, owner in self._open.items() if owner != header.producer_id)
        return AbortedTxn(
            header.producer_id,
            entry.txn_first_offset,
            header.base_offset,
            next(others, header.base_offset + 1),
        )

    def update(self, header: BatchHeader, now_ms: int, marker: EndTxnMarker | None = None) -> None:
        """Remember a batch that is in the log.

        For a control batch that compaction has emptied, `marker` is None and nothing changes.
        """
        if header.is_control:
            if marker is not None:
                self._end_transaction(header, now_ms, marker)
            return
        entry = self._entry(header.producer_id)
        entry.move_to(header.producer_epoch)
        delta = header.last_offset_delta
        entry.add(
            BatchMetadata(
                last_sequence_of(header.base_sequence, delta),
                header.base_offset + delta,
                delta,
                header.max_timestamp,
            )
        )
        entry.active_ms = now_ms
        if header.is_transactional and not entry.in_transaction:
            entry.txn_first_offset = header.base_offset
            self._open[header.base_offset] = header.producer_id
            self._verified.pop(header.producer_id, None)

    def restore(self, entries: Iterable[ProducerEntry]) -> None:
        """Begin with the producers of a snapshot instead of those remembered."""
        self._entries = {entry.producer_id: entry for entry in entries}
        self._open = {
            entry.txn_first_offset: entry.producer_id
            for entry in sorted(self._entries.values(), key=lambda entry: entry.txn_first_offset)
            if entry.in_transaction
        }
        self._decided.clear()
        self._verified.clear()

    def expire(self, now_ms: int, expiration_ms: int) -> int:
        """Forget producers that were silent for too long; an open transaction is never forgotten.

        Returns how many were forgotten.
        """
        silent = [
            entry.producer_id
            for entry in self._entries.values()
            if not entry.in_transaction and now_ms - entry.active_ms >= expiration_ms
        ]
        for producer_id in silent:
            del self._entries[producer_id]
        # Who was let in has written at once, or never will.
        self._verified.clear()
        return len(silent)

    @property
    def first_open_offset(self) -> int | None:
        """First offset of the oldest transaction without a marker."""
        return next(iter(self._open), None)

    def first_unstable_offset(self, high_watermark: int) -> int | None:
        """First offset of the oldest transaction whose outcome is not readable yet, if any.

        A transaction with a marker counts until the marker is below the high watermark.
        """
        if self._decided:
            for first_offset, marker_offset in tuple(self._decided.items()):
                if marker_offset < high_watermark:
                    del self._decided[first_offset]
        if not self._decided:
            return next(iter(self._open), None)
        oldest = min(self._decided)
        return min(oldest, next(iter(self._open), oldest))

    def _entry(self, producer_id: int) -> ProducerEntry:
        entry = self._entries.get(producer_id)
        if entry is None:
            entry = self._entries[producer_id] = ProducerEntry(producer_id)
        return entry

    def _end_transaction(self, header: BatchHeader, now_ms: int, marker: EndTxnMarker) -> None:
        entry = self._entry(header.producer_id)
        if entry.in_transaction:
            del self._open[entry.txn_first_offset]
            self._decided[entry.txn_first_offset] = header.base_offset
        entry.move_to(header.producer_epoch)
        entry.coordinator_epoch = marker.coordinator_epoch
        entry.last_timestamp = header.max_timestamp
        entry.active_ms = now_ms
        entry.txn_first_offset = NO_TRANSACTION
        self._verified.pop(header.producer_id, None)

    def _check_sequence(
        self, header: BatchHeader, entry: ProducerEntry | None, *, numbered_from_zero: bool
    ) -> None:
        sequence = header.base_sequence
        if entry is None or (entry.epoch != header.producer_epoch) or not entry.batches:
            # Nothing to compare with. A producer that the partition has never seen, or has
            # forgotten, may go on where it is; a known one begins a new epoch at zero.
            must_be_zero = numbered_from_zero or entry is not None
            if sequence != 0 and must_be_zero:
                raise OutOfOrderSequence(
                    f"Producer {header.producer_id} sent sequence {sequence} to {self._name} as "
                    f"the first of epoch {header.producer_epoch}, which must be 0."
                )
            return
        last_sequence = entry.batches[-1].last_sequence
        if not follows(last_sequence, sequence):
            raise OutOfOrderSequence(
                f"Producer {header.producer_id} sent sequence {sequence} to {self._name}, "
                f"but {last_sequence} is the last one there, so a batch is missing in between."
            )

    def _stale_epoch(self, header: BatchHeader, entry: ProducerEntry) -> InvalidProducerEpoch:
        return InvalidProducerEpoch(
            f"Producer {header.producer_id} wrote to {self._name} with epoch "
            f"{header.producer_epoch}, but epoch {entry.epoch} has taken its place."
        )


def _duplicate_of(entry: ProducerEntry, header: BatchHeader) -> BatchMetadata | None:
    last = last_sequence_of(header.base_sequence, header.last_offset_delta)
    for batch in reversed(entry.batches):
        if batch.last_sequence == last and batch.first_sequence == header.base_sequence:
            return batch
    return None
