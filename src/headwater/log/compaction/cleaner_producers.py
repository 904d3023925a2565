"""What compaction has to respect: open transactions, aborted ones, and producers at work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.log.compaction.record_filter import LastRecord

if TYPE_CHECKING:
    from headwater.log.indexes.txn_index import AbortedTxn
    from headwater.log.log import Log


def first_undecided_offset(log: Log) -> int:
    """Where compaction has to stop: nobody knows yet which records count from there on."""
    with log.lock:
        undecided = log.producers.first_open_offset
        return log.log_end_offset if undecided is None else undecided


def active_producers(log: Log) -> dict[int, LastRecord]:
    """Find what each producer wrote last, which holds the sequence that its next batch follows."""
    with log.lock:
        return {
            entry.producer_id: LastRecord(
                entry.batches[-1].last_offset if entry.batches else -1, entry.epoch
            )
            for entry in log.producers.entries
        }


def aborted_in_section(log: Log, start: int, end: int) -> tuple[AbortedTxn, ...]:
    """List the aborted transactions with a marker from `start` up to `end`."""
    return tuple(
        aborted
        for aborted in log.aborted_transactions(start, end)
        if start <= aborted.last_offset < end
    )
