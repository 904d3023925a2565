"""Writing as the leader: the lead is claimed, the topic read to its end, then records go in.

All that this instance changes is written while it is `leading`, one change at a time.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from headwater.topic_state.errors import (
    InvalidRecordError,
    NotLeaderError,
    RecordTooLargeError,
    TopicStateError,
)
from headwater.topic_state.leadership import Leadership, Tenure, read_mark

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from headwater.topic_state.log import KeyValue, Record, TopicLog
    from headwater.topic_state.state import State

logger = logging.getLogger("headwater.topic_state")


class Writer:
    """Applies what is read to the state, and writes what this instance decides when it leads.

    async with writer.leading():  # raises NotLeaderError: ask writer.leader_url
        await writer.write([(b"name", b"value")])
    """

    def __init__(
        self, state: State[Any], log: TopicLog, url: str, on_change: Callable[[], None]
    ) -> None:
        self.name = str(uuid.uuid4())
        self.leadership = Leadership(state.claim_key)
        self.skipped = 0
        self._state = state
        self._log = log
        self._url = url
        self._on_change = on_change
        self._should_lead = False
        self._is_announced = False  # since the group last changed
        self._tenure: Tenure | None = None  # what was claimed and, as far as is known, still holds
        self._void: dict[bytes, int] = {}  # keys whose last record does not count
        self._lock = asyncio.Lock()
        self._changed = asyncio.Event()  # until the next change

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
            logger.info("this instance was elected to lead (%s)", self._log.topic)
        self._should_lead = should_lead
        self._is_announced = False
        self._notify()

    def apply(self, records: Sequence[Record]) -> None:
        """Take in what was read from the topic."""
        for record in records:
            try:
                decoded = self._state.decode(record)
            except InvalidRecordError as failure:
                self.skipped += 1
                logger.warning("the record at offset %d is skipped: %s", record.offset, failure)
                continue
            mark = read_mark(record.headers)
            if not self.leadership.admit(record.key, mark):
                self._note_void(record.key, record.offset)
                continue
            if record.key is not None:
                self._void.pop(record.key, None)
            self._state.apply(decoded, record, mark)
        self._on_change()
        self._notify()

    async def wait_for_change(self, timeout_s: float) -> None:
        """Wait until something was read or the group decided something, or for a time."""
        changed = self._changed
        try:
            await asyncio.wait_for(changed.wait(), timeout_s)
        except TimeoutError:
            return

    @asynccontextmanager
    async def leading(self) -> AsyncIterator[None]:
        """Lead for a while: nobody else writes, and all that was written has been read.

        Raises NotLeaderError where another instance was elected, and TopicStateError.
        """
        async with self._lock:
            if not self._should_lead:
                raise NotLeaderError("another instance was elected, or none yet")
            if not self.is_leader:
                await self._claim()
            await self.catch_up()
            if not self.is_leader:
                raise NotLeaderError("another instance took the lead")
            await self._repair()
            yield

    async def write(self, records: Sequence[KeyValue]) -> None:
        """Write records and read them back; only while `leading`.

        Raises TopicStateError, after which the lead is claimed anew, so that what may still be on
        its way can do no harm, or NotLeaderError if nothing of it counts.
        """
        if not records:
            return
        tenure = self._tenure
        assert tenure is not None
        try:
            await self._log.read_to(await self._log.write(records, tenure.headers()))
        except RecordTooLargeError:
            raise  # it is certainly not there
        except (TopicStateError, asyncio.CancelledError):
            self._tenure = None
            raise
        if self.leadership.tenure != tenure:
            self._tenure = None
            raise NotLeaderError("what was written is void, since another instance took the lead")

    async def catch_up(self) -> None:
        """Wait until all that is in the topic was read; raises TopicStateError."""
        await self._log.read_to(await self._log.end_offset())

    async def announce(self, *, again: bool = False) -> None:
        """Claim the lead, or say who leads, to those that joined since or to whoever comes."""
        async with self._lock:
            if self._should_lead and (again or not self._is_announced):
                await self._claim()

    async def _claim(self) -> None:
        await self.catch_up()
        current = self.leadership.tenure
        tenure = self._tenure if self.is_leader else Tenure(current.epoch + 1, self.name)
        assert tenure is not None
        headers = [*tenure.claim_headers(self._url), *self._state.claim_headers()]
        claim = (self._state.claim_key, None)
        await self._log.read_to(await self._log.write([claim], headers))
        if self.leadership.tenure != tenure:
            raise NotLeaderError("another instance was faster")
        if self._should_lead:
            self._is_announced = True
            if self._tenure != tenure:
                logger.info(
                    "leading in epoch %d at %s (%s)", tenure.epoch, self._url, self._log.topic
                )
            self._tenure = tenure

    async def _repair(self) -> None:
        # Compaction would keep a void record and drop the one before it, which counts.
        if void := dict(self._void):
            records = [record for key in void for record in self._state.restoring(key)]
            logger.warning("writing %d records anew that a former leader overwrote", len(records))
            await self.write(records)
            for key, offset in void.items():
                # A former leader may have been at it again while we wrote.
                if self._void.get(key) == offset:
                    del self._void[key]

    def _note_void(self, key: bytes | None, offset: int) -> None:
        logger.warning("the record at offset %d is void: its writer no longer led", offset)
        if key is not None and key != self._state.claim_key:
            self._void[key] = offset

    def _notify(self) -> None:
        # One for each change: were it cleared, one wait could take the wake-up of another.
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
