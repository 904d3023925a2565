"""Fills a value store from a topic: what a program does with it that says nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.plan.processing.processor import Processor

if TYPE_CHECKING:
    from headwater.plan.processing.processor import ProcessorContext, Record


@dataclass(frozen=True)
class StoreUpdater:
    """Makes the processor that sets a store to each record's value; a tombstone deletes."""

    store: str

    def __call__(self) -> Processor:
        """Return the processor."""
        return _Updating(self.store)


class _Updating(Processor):
    def __init__(self, store: str) -> None:
        self._name = store

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self._store = context.state_store(self._name)

    def process(self, record: Record) -> None:
        if record.value is None:
            self._store.delete()
        else:
            self._store.put(record.value)
