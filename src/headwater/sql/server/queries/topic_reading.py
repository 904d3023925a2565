"""Records of a topic for one client: from where it wants them, to now or for ever."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from headwater.clients.error_log import note_error
from headwater.sql.errors import SqlError
from headwater.sql.server.rows.records import Record

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from headwater.clients import ClusterAccess

_BATCH = 500
_POLL_S = 0.25
# Batches that wait for a slow client; the topic keeps the rest.
_AHEAD = 4
_ASK_WITHIN_S = 30.0


class TopicReading:
    """Reads in a thread of its own, no faster than somebody takes what was read.

        reading = TopicReading(access, "orders", from_beginning=True, until_now=True)
        await reading.open()  # from here on, what comes to the topic will be seen
        async for records in reading.batches():
            ...

    Transactions that are open or aborted are not seen.
    """

    def __init__(
        self, access: ClusterAccess, topic: str, *, from_beginning: bool, until_now: bool = False
    ) -> None:
        self._access = access
        self._topic = topic
        self._from_beginning = from_beginning
        self._until_now = until_now
        self._batches: asyncio.Queue[list[Record] | Exception | None] = asyncio.Queue(_AHEAD)
        self._stopping = threading.Event()
        self._loop = asyncio.get_running_loop()
        self._consumer: Any = None
        self._ends: dict[int, int] = {}

    async def open(self) -> None:
        """Find out where to begin, and begin; raises SqlError."""
        opened: asyncio.Future[None] = self._loop.create_future()
        name = f"sql-read-{self._topic}"
        threading.Thread(target=self._run, args=(opened,), name=name, daemon=True).start()
        try:
            await opened
        except BaseException:
            self.close()  # nobody will iterate; the thread closes what it has opened
            raise

    @property
    def ends(self) -> dict[int, int]:
        """Where the topic ended, by partition, when reading began."""
        return dict(self._ends)

    async def batches(self) -> AsyncGenerator[list[Record], None]:
        """Iterate over what comes; raises SqlError. Whoever has enough closes it."""
        try:
            while (batch := await self._batches.get()) is not None:
                if isinstance(batch, Exception):
                    raise batch
                yield batch
        finally:
            self.close()

    def end(self) -> None:
        """Let whoever iterates come to an end; call it on the event loop."""
        self._stopping.set()
        while not self._batches.empty():
            self._batches.get_nowait()
        self._batches.put_nowait(None)

    def close(self) -> None:
        """Stop to read; the thread ends by itself, and nobody has to wait for it."""
        self._stopping.set()

    def _run(self, opened: asyncio.Future[None]) -> None:
        try:
            self._assign()
        except Exception as failure:
            self._tell(opened, failure)
        else:
            self._tell(opened, None)
            self._read()

    def _tell(self, opened: asyncio.Future[None], failure: Exception | None) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody is interested any more
            self._loop.call_soon_threadsafe(_settle, opened, failure)

    def _assign(self) -> None:
        from confluent_kafka import Consumer, KafkaException, TopicPartition

        consumer = Consumer(
            {
                "group.id": "headwater-sql",  # never used, but demanded
                "client.id": "headwater-sql",
                "enable.auto.commit": False,
                "enable.partition.eof": self._until_now,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                "queued.max.messages.kbytes": 4096,
                "log_level": 0,
                "error_cb": note_error,
                **self._access.for_admin().librdkafka(),
            }
        )
        try:
            found = consumer.list_topics(self._topic, timeout=_ASK_WITHIN_S).topics[self._topic]
            if found.error is not None:
                raise SqlError(f"there is no topic {self._topic}: {found.error.str()}")
            starts = []
            for partition in found.partitions:
                place = TopicPartition(self._topic, partition)
                low, high = consumer.get_watermark_offsets(place, timeout=_ASK_WITHIN_S)
                if not self._until_now or low < high:
                    self._ends[partition] = high
                    start = low if self._from_beginning else high
                    starts.append(TopicPartition(self._topic, partition, start))
            consumer.assign(starts)
        except KafkaException as failure:
            consumer.close()
            raise SqlError(f"{self._topic} cannot be read: {failure.args[0].str()}") from None
        self._consumer = consumer

    def _read(self) -> None:
        left = set(self._ends) if self._until_now else None
        try:
            while not self._stopping.is_set() and left != set():
                # One is waited for, and what came with it is taken along.
                first = self._consumer.poll(_POLL_S)
                if first is None:
                    continue
                messages = [first, *self._consumer.consume(_BATCH - 1, 0)]
                batch = self._taken(messages, left)
                if batch:
                    self._hand_over(batch)
            self._hand_over(None)
        except Exception as failure:
            self._hand_over(SqlError(f"reading {self._topic} failed: {failure}"))
        finally:
            self._consumer.close()

    def _taken(self, messages: list[Any], left: set[int] | None) -> list[Record]:
        from confluent_kafka import KafkaError

        batch: list[Record] = []
        for message in messages:
            error = message.error()
            if error is None:
                end = self._ends[message.partition()]
                if left is None or message.offset() < end:
                    batch.append(_record(message))
                if left is not None and message.offset() + 1 >= end:
                    left.discard(message.partition())
            elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - a public constant
                if left is not None:
                    left.discard(message.partition())
            elif not error.retriable():
                raise SqlError(error.str())
        return batch

    def _hand_over(self, batch: list[Record] | Exception | None) -> None:
        if self._stopping.is_set():
            return  # nobody asks for more
        with suppress(RuntimeError):  # the loop is closed: nobody is interested any more
            putting = asyncio.run_coroutine_threadsafe(self._batches.put(batch), self._loop)
            while not self._stopping.is_set():
                with suppress(TimeoutError):
                    putting.result(_POLL_S)
                    return
            putting.cancel()


def _settle(opened: asyncio.Future[None], failure: Exception | None) -> None:
    if opened.done():
        return
    if failure is None:
        opened.set_result(None)
    else:
        opened.set_exception(failure)


def _record(message: Any) -> Record:
    _, timestamp = message.timestamp()
    return Record(
        message.key(),
        message.value(),
        timestamp,
        message.partition(),
        message.offset(),
        tuple(message.headers() or ()),
    )
