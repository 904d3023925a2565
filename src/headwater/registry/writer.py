"""Writing as the leader: the lead is claimed, the topic read to its end, then records go in.

Everything that changes the registry passes through `Writer.change`, one at a time.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from headwater.registry.errors import RegistryError
from headwater.registry.leadership import Leadership, Tenure, read_mark
from headwater.registry.log_records import (
    InvalidRecordError,
    LogRecord,
    NoopKey,
    decode,
    encode_key,
    encode_value,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from headwater.registry.kafka_log import KafkaLog, ReadRecord
    from headwater.registry.log_records import Key
    from headwater.registry.store import SchemaStore

logger = logging.getLogger("headwater.registry")

Result = TypeVar("Result")


class NotLeaderError(Exception):
    """This instance does not lead; somebody else has to be asked."""


class Writer:
    """Applies what is read to the store, and writes what this instance decides when it leads."""

    def __init__(self, store: SchemaStore, url: str, on_change: Callable[[], None]) -> None:
        self.name = str(uuid.uuid4())
        self.store = store
        self.leadership = Leadership()
        self.skipped = 0
        self._url = url
        self._on_change = on_change
        self._log: KafkaLog | None = None
        self._should_lead = False
        self._is_announced = False  # since the group last changed
        self._tenure: Tenure | None = None  # what was claimed and, as far as is known, still holds
        self._void: dict[Key, int] = {}  # keys whose last record does not count
        self._last_ids: dict[str, int] = {}
        self._lock = asyncio.Lock()
        self._changed = asyncio.Event()

    def attach(self, log: KafkaLog) -> None:
        """Set the log to write to."""
        self._log = log

    @property
    def is_leader(self) -> bool:
        """Whether this instance leads, as far as it knows."""
        return self._tenure is not None and self.leadership.tenure == self._tenure

    @property
    def should_lead(self) -> bool:
        """Whether the group wants this instance to lead."""
        return self._should_lead

    @property
    def leader_url(self) -> str | None:
        """Where another instance that leads can be reached."""
        return None if self.leadership.tenure.owner == self.name else self.leadership.url

    def set_should_lead(self, should_lead: bool) -> None:
        """Take note of what the group decided."""
        if not should_lead:
            self._tenure = None
        elif not self._should_lead:
            logger.info("this instance was elected to lead")
        self._should_lead = should_lead
        self._is_announced = False
        self._notify()

    def apply(self, records: Sequence[ReadRecord]) -> None:
        """Take in what was read from the topic."""
        for record in records:
            try:
                parsed = decode(record.key, record.value)
            except InvalidRecordError as failure:
                self.skipped += 1
                logger.warning("the record at offset %d is skipped: %s", record.offset, failure)
                continue
            mark = read_mark(record.headers)
            if not self.leadership.admit(parsed.key, mark):
                self._note_void(parsed.key, record.offset)
                continue
            self._void.pop(parsed.key, None)
            epoch = 0 if mark is None else mark.tenure.epoch
            self.store.apply(parsed, timestamp=record.timestamp, epoch=epoch)
            if mark is not None and mark.max_ids is not None:
                self.store.note_max_ids(mark.max_ids)
        self._on_change()
        self._notify()

    async def wait_for_change(self, timeout_s: float) -> None:
        """Wait until something was read or the group decided something, or for a time."""
        self._changed.clear()
        try:
            await asyncio.wait_for(self._changed.wait(), timeout_s)
        except TimeoutError:
            return

    @asynccontextmanager
    async def leading(self) -> AsyncIterator[None]:
        """Lead for a while: nobody else writes, and all that was written has been read.

        Raises NotLeaderError where another instance was elected.
        """
        async with self._lock:
            log = self._require_log()
            if not self._should_lead:
                raise NotLeaderError
            if not self.is_leader:
                await self._claim()
            await log.read_to(await log.end_offset())
            if not self.is_leader:
                raise NotLeaderError
            await self._repair()
            yield

    async def write(self, records: Sequence[LogRecord]) -> None:
        """Write records and read them back; only while `leading`.

        Raises RegistryError, after which the lead is claimed anew, so that what may still be on its
        way can do no harm, or NotLeaderError if nothing of it counts.
        """
        if not records:
            return
        log = self._require_log()
        tenure = self._tenure
        assert tenure is not None
        encoded = [(encode_key(key), encode_value(key, value)) for key, value in records]
        try:
            await log.read_to(await log.write(encoded, tenure.headers()))
        except RegistryError as failure:
            if failure.code != 42209:  # a record that is too large is certainly not there
                self._tenure = None
            raise
        except asyncio.CancelledError:
            self._tenure = None
            raise
        if self.leadership.tenure != tenure:
            self._tenure = None
            raise NotLeaderError  # what was written is void, since another instance took the lead

    def next_id(self, context: str) -> int:
        """Return an id that no schema of a context has or ever had."""
        id_ = max(self.store.max_id(context), self._last_ids.get(context, 0)) + 1
        self._last_ids[context] = id_
        return id_

    async def catch_up(self) -> None:
        """Wait until all that is in the topic was read; raises RegistryError."""
        log = self._require_log()
        await log.read_to(await log.end_offset())

    async def announce(self, *, again: bool = False) -> None:
        """Claim the lead, or say who leads, to those that joined since or to whoever comes."""
        async with self._lock:
            if self._should_lead and (again or not self._is_announced):
                await self._claim()

    async def _claim(self) -> None:
        log = self._require_log()
        await log.read_to(await log.end_offset())
        current = self.leadership.tenure
        tenure = self._tenure if self.is_leader else Tenure(current.epoch + 1, self.name)
        assert tenure is not None
        key = encode_key(NoopKey())
        headers = tenure.claim_headers(self._url, self.store.max_ids())
        await log.read_to(await log.write([(key, None)], headers))
        if self.leadership.tenure != tenure:
            raise NotLeaderError  # another instance was faster
        if self._should_lead:
            self._is_announced = True
            if self._tenure != tenure:
                logger.info("leading in epoch %d at %s", tenure.epoch, self._url)
            self._tenure = tenure

    async def _repair(self) -> None:
        # Compaction would keep a void record and drop the one before it, which counts.
        if void := dict(self._void):
            records = [record for key in void for record in self.store.restoring(key)]
            logger.warning("writing %d records anew that a former leader overwrote", len(records))
            await self.write(records)
            for key, offset in void.items():
                # A former leader may have been at it again while we wrote.
                if self._void.get(key) == offset:
                    del self._void[key]

    def _note_void(self, key: Key, offset: int) -> None:
        logger.warning("the record at offset %d is void: its writer no longer led", offset)
        if not isinstance(key, NoopKey):
            self._void[key] = offset

    def _notify(self) -> None:
        self._changed.set()

    def _require_log(self) -> KafkaLog:
        assert self._log is not None
        return self._log
