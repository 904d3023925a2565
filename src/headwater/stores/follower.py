"""Follows a table's topic into a store's file, in a thread, and tells how far it has come."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from headwater.clients.connection import Connection
from headwater.clients.errors import ClientError
from headwater.stores.errors import StoreError, StoreValueError
from headwater.stores.position import Position
from headwater.stores.topic_facts import is_same_topic, topic_facts
from headwater.stores.topic_reader import RecordsGone, TopicReader

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.clients import ClusterAccess
    from headwater.stores.database import Database
    from headwater.stores.keys import KeyCodec
    from headwater.stores.table import FollowedTable
    from headwater.stores.topic_facts import TopicFacts
    from headwater.stores.topic_reader import Change

logger = logging.getLogger("headwater.stores")

_POLL_S = 0.5
# A new partition, or another topic of the same name, is found so soon.
_LOOK_EVERY_S = 5.0
_TRY_AGAIN_S = 0.5
# How exactly a file knows until when it was followed, where nothing is written to the topic.
_NOTE_EVERY_S = 60.0
# So many records behind the end of the last batch are held in memory, and the rest is read later.
_HELD = 200_000
# A store that loads shows nothing, and may lose its place: its file is written in large parts.
_LOADED_AT_ONCE = 200_000


class Follower:
    """Keeps one file up to date; what goes wrong is tried again and told by `trouble`."""

    def __init__(
        self, table: FollowedTable, access: ClusterAccess, database: Database, keys: KeyCodec
    ) -> None:
        self._table = table
        self._access = access
        self._database = database
        self._keys = keys
        self.position = database.kept().position
        # Until it is known that the topic is the one whose records the file has.
        self.is_loading = True
        self.trouble: str | None = None
        self.skipped = 0
        """Records without a key, or whose key is not of the table's type, since the start."""
        self._changes: dict[bytes, bytes | None] = {}
        self._held: list[Change] = []
        self._has_settled = self._has_begun = self._is_warned = False
        self._moved = threading.Condition()
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name=f"headwater-store-{table.name}", daemon=True
        )

    def start(self) -> None:
        """Follow from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Stop, and wait for it; the next start goes on from here."""
        self._stopping.set()
        with self._moved:
            self._moved.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def wait_for(self, reached: Callable[[], bool], timeout_s: float) -> bool:
        """Wait until something is true that changes with the position; False if that never was."""
        with self._moved:
            self._moved.wait_for(lambda: reached() or self._stopping.is_set(), timeout_s)
            return reached()

    def _run(self) -> None:
        from confluent_kafka import KafkaException

        while not self._stopping.is_set():
            try:
                self._follow()
            except RecordsGone as gone:
                self._troubled(gone)
                self._database.roll_back()
                self._start_again("")
            except (StoreError, ClientError, KafkaException) as failure:
                self._troubled(failure)
            except Exception as failure:  # a thread has nobody to raise to: look-ups tell it
                logger.exception("the store %s stopped for a moment", self._table.name)
                self._troubled(failure)
            self._database.roll_back()
            self._stopping.wait(_TRY_AGAIN_S if self.trouble else 0)

    def _troubled(self, failure: Exception) -> None:
        text = str(failure)
        if text != self.trouble:
            logger.warning("the store %s: %s", self._table.name, text)
        self.trouble = text

    def _follow(self) -> None:
        """Follow until the topic has changed in a way that needs a new beginning."""
        connection = Connection(self._access)
        facts = topic_facts(connection, self._table)
        kept = self._database.kept()
        # What another process began to load may have been cut off anywhere.
        is_torn = kept.is_loading and not self._has_begun
        self._has_begun = True
        if is_torn or kept.topic_id != facts.id or facts.forgets_since(kept.followed_at):
            self._start_again(facts.id)
        else:
            self._moved_to(kept.position, loading=kept.is_loading)
        start = self.position.offsets(self._table.topic)
        self._changes, self._held, self._has_settled = {}, [], False
        reader = TopicReader(self._table, connection, facts.partitions, start)
        try:
            looked = noted = time.monotonic()
            while not self._stopping.is_set():
                self._take(reader, facts)
                if time.monotonic() - looked > _LOOK_EVERY_S:
                    looked = time.monotonic()
                    if not is_same_topic(connection, self._table, facts):
                        return
                if time.monotonic() - noted > _NOTE_EVERY_S:
                    noted = time.monotonic()
                    self._database.note_time()
        finally:
            reader.close()

    def _start_again(self, topic_id: str) -> None:
        self.is_loading = True
        self._database.start_again(topic_id)
        self._moved_to(Position(), loading=True)

    def _take(self, reader: TopicReader, facts: TopicFacts) -> None:
        # The end of a batch may lie behind more records than fit into memory.
        reader.hold(len(self._held) > _HELD)
        before = reader.state()
        found = reader.changes(_POLL_S)
        # An empty topic brings nothing, and is read to its end all the same.
        if not found and reader.state() == before and self._has_settled:
            return
        self.trouble = None
        self._held += found
        if reader.knows_batch_end:
            self._settle(reader, facts)
            self._has_settled = True

    def _settle(self, reader: TopicReader, facts: TopicFacts) -> None:
        """Write what belongs to finished batches, and show it once all of that was read."""
        target = self._target(reader, facts)
        if target is None:
            return
        held: list[Change] = []
        ready: list[Change] = []
        for change in self._held:
            (ready if change.offset < target.get(change.partition, 0) else held).append(change)
        self._held = held
        self._note(ready)
        is_there = all(reader.read.get(part, 0) >= end for part, end in target.items())
        if not is_there and len(self._changes) < _LOADED_AT_ONCE:
            return
        self._database.change(self._changes)
        self._changes = {}
        if is_there or self.is_loading:
            self._commit(reader, target, loading=self.is_loading and not is_there)

    def _target(self, reader: TopicReader, facts: TopicFacts) -> dict[int, int] | None:
        """Return how far to go in one piece; None where nothing was ever finished."""
        if self._table.batches is not None:
            if reader.batch_end is None:
                return None
            if not reader.batch_end.each:
                return reader.batch_end.offsets
        if self.is_loading:
            return {part: max(end, reader.read[part]) for part, end in facts.ends.items()}
        return dict(reader.read)

    def _commit(self, reader: TopicReader, target: dict[int, int], *, loading: bool) -> None:
        offsets = {part: min(read, target.get(part, 0)) for part, read in reader.read.items()}
        inputs = reader.batch_end.inputs if reader.batch_end is not None and not loading else {}
        position = Position({**inputs, self._table.topic: offsets})
        self._database.commit(position, loading=loading)
        self._moved_to(position, loading=loading)

    def _note(self, changes: Sequence[Change]) -> None:
        """Take the last of each key; what has no key of the table's type changes nothing."""
        of_record, noted = self._keys.of_record, self._changes
        for _, offset, key, value in changes:
            try:
                if key is None:
                    self.skipped += 1
                else:
                    noted[of_record(key)] = value
            except StoreValueError as failure:
                self.skipped += 1
                if not self._is_warned:  # they may come by the million
                    logger.warning("the store %s: offset %d: %s", self._table.name, offset, failure)
                self._is_warned = True

    def _moved_to(self, position: Position, *, loading: bool) -> None:
        with self._moved:
            self.position, self.is_loading = position, loading
            self._moved.notify_all()
