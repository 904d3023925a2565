"""A topic of one partition through Kafka's protocol: read from its start, for ever, and written."""

from __future__ import annotations

import asyncio
import logging
import threading
import uuid
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, OffsetSpec

from headwater.topic_state.errors import (
    RecordTooLargeError,
    StateTimeoutError,
    TopicStateError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from headwater.topic_state.leadership import Headers

logger = logging.getLogger("headwater.topic_state")

_BATCH = 1000
_POLL_S = 0.5

KeyValue: TypeAlias = tuple[bytes, bytes | None]  # a record to write; no value is a tombstone


class Record(NamedTuple):
    """A record as it came from the topic."""

    offset: int
    timestamp: int | None
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, Any]] | None


class TopicLog:
    """Reads in a thread of its own and hands over what it read on the event loop.

    It needs no election: where every instance may write, it is enough by itself.

        log = TopicLog({"bootstrap.servers": "localhost:9092"}, "statuses", timeout_s=10)
        log.start(take)  # calls take(records) from now on
        await log.read_to(await log.end_offset())  # all that was there was taken
        await log.read_to(await log.write([(b"task-0", b"RUNNING")]))  # and what we wrote
        await log.stop()
    """

    def __init__(self, client: Mapping[str, Any], topic: str, *, timeout_s: float) -> None:
        self.topic = topic
        self._client = dict(client)
        self._on_records: Callable[[Sequence[Record]], None] | None = None
        self._timeout_s = timeout_s
        self._partition = TopicPartition(topic, 0, 0)  # a compacted topic starts at 0
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._consumer: Consumer | None = None
        self._producer: Producer | None = None
        self._admin: AdminClient | None = None
        self.position = 0  # all below was handed over

    def start(self, on_records: Callable[[Sequence[Record]], None]) -> None:
        """Start to read; call it on the event loop, which `on_records` will be called on."""
        self._loop = asyncio.get_running_loop()
        self._on_records = on_records
        name = self._client.get("client.id", "headwater")
        self._consumer = Consumer(
            {
                "group.id": f"{name}-{uuid.uuid4()}",  # never used, but demanded
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "auto.offset.reset": "earliest",
                "enable.partition.eof": True,
                "isolation.level": "read_uncommitted",
                **self._client,
            }
        )
        self._producer = Producer(
            {
                "acks": "all",
                "enable.idempotence": True,
                "allow.auto.create.topics": False,  # whoever deletes it, it is not for us to make
                "linger.ms": 2,  # what belongs together goes into one batch
                "message.timeout.ms": int(self._timeout_s * 1000),
                "message.max.bytes": 100_000_000,  # the broker decides
                **self._client,
            }
        )
        self._admin = AdminClient(self._client)
        self._consumer.assign([self._partition])
        for target in (self._read, self._deliver):
            thread = threading.Thread(target=target, name=f"{self.topic}{target.__name__}")
            thread.start()
            self._threads.append(thread)

    async def stop(self) -> None:
        """Stop to read; what is being written is waited for."""
        self._stopping.set()
        for thread in self._threads:
            await asyncio.to_thread(thread.join)
        if self._consumer is not None:
            await asyncio.to_thread(self._consumer.close)
        for _, waiting in self._waiting:
            waiting.cancel()

    async def end_offset(self) -> int:
        """Ask the broker where the topic ends; raises TopicStateError."""
        try:
            try:
                return await self._ask_end_offset()
            except KafkaException:
                # This client never finds out by itself that a broker was restarted.
                self._admin = AdminClient(self._client)
                return await self._ask_end_offset()
        except KafkaException as failure:
            reason = failure.args[0].str()
            raise TopicStateError(f"Kafka does not say where {self.topic} ends: {reason}") from None
        except TimeoutError:
            raise StateTimeoutError(f"Kafka does not say in time where {self.topic} ends") from None

    async def _ask_end_offset(self) -> int:
        assert self._admin is not None
        futures = self._admin.list_offsets(
            {self._partition: OffsetSpec.latest()}, request_timeout=self._timeout_s
        )
        asked = asyncio.wrap_future(futures[self._partition])
        found = await asyncio.wait_for(asked, self._timeout_s + 1)
        return int(found.offset)

    async def read_to(self, offset: int, timeout_s: float | None = None) -> None:
        """Wait until all below an offset was handed over; raises TopicStateError."""
        timeout_s = self._timeout_s if timeout_s is None else timeout_s
        if self.position >= offset:
            return
        assert self._loop is not None
        waiting = self._loop.create_future()
        self._waiting.append((offset, waiting))
        try:
            await asyncio.wait_for(waiting, timeout_s)
        except TimeoutError:
            raise StateTimeoutError(
                f"Reading {self.topic} up to offset {offset} took longer than {timeout_s:g} s; "
                f"it is at {self.position}"
            ) from None

    async def write(self, records: Sequence[KeyValue], headers: Headers | None = None) -> int:
        """Write records in this order and return the offset behind them; raises TopicStateError.

        After a failure, nobody knows what was written: what it was on may still come in.
        """
        assert self._producer is not None
        assert self._loop is not None
        deliveries = [self._loop.create_future() for _ in records]
        for (key, value), delivery in zip(records, deliveries, strict=True):
            try:
                self._producer.produce(
                    self.topic,
                    value,
                    key,
                    partition=0,
                    headers=headers or [],
                    on_delivery=self._note(delivery),
                )
            except (KafkaException, BufferError) as failure:
                raise TopicStateError(f"Kafka's client refuses a record: {failure}") from None
        offsets = await asyncio.gather(*deliveries, return_exceptions=True)
        for offset, (_, value) in zip(offsets, records, strict=True):
            if isinstance(offset, BaseException):
                raise _write_failure(offset, self.topic, len(value or b""))
        return int(offsets[-1]) + 1  # type: ignore[arg-type]

    def _note(self, delivery: asyncio.Future[int]) -> Callable[[KafkaError | None, Any], None]:
        def note(error: KafkaError | None, message: Any) -> None:
            offset = None if error is not None else message.offset()
            self._on_loop(_settle, delivery, error, offset)

        return note

    def _read(self) -> None:
        assert self._consumer is not None
        while not self._stopping.is_set():
            try:
                # One is waited for, and what came with it is taken along.
                first = self._consumer.poll(_POLL_S)
                messages = [] if first is None else [first, *self._consumer.consume(_BATCH, 0)]
            except (KafkaException, RuntimeError) as failure:
                logger.warning("reading %s failed: %s", self.topic, failure)
                self._stopping.wait(_POLL_S)
                continue
            batch: list[Record] = []
            position = None
            for message in messages:
                error = message.error()
                if error is None:
                    position = message.offset() + 1
                    _, timestamp = message.timestamp()
                    batch.append(
                        Record(
                            message.offset(),
                            timestamp,
                            message.key(),
                            message.value(),
                            message.headers(),
                        )
                    )
                elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - a public constant
                    position = message.offset()
                else:
                    logger.warning("reading %s failed: %s", self.topic, error)
            if position is not None:
                self._on_loop(self._hand_over, batch, position)

    def _deliver(self) -> None:
        assert self._producer is not None
        while not self._stopping.is_set():
            self._producer.poll(_POLL_S)
        self._producer.flush(self._timeout_s)

    def _on_loop(self, callback: Callable[..., None], *arguments: Any) -> None:
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:
            self._stopping.set()  # the loop is closed: nobody is interested any more

    def _hand_over(self, batch: Sequence[Record], position: int) -> None:
        assert self._on_records is not None
        if batch:
            self._on_records(batch)
        self.position = max(self.position, position)
        still: list[tuple[int, asyncio.Future[None]]] = []
        for offset, waiting in self._waiting:
            if self.position < offset:
                still.append((offset, waiting))
            elif not waiting.done():
                waiting.set_result(None)
        self._waiting = still


def _settle(delivery: asyncio.Future[int], error: KafkaError | None, offset: int | None) -> None:
    if delivery.done():
        return
    if error is not None:
        delivery.set_exception(KafkaException(error))
    else:
        delivery.set_result(offset or 0)


def _write_failure(failure: BaseException, topic: str, size: int) -> Exception:
    if not isinstance(failure, KafkaException):
        return TopicStateError(f"writing to {topic} failed: {failure}")
    error = failure.args[0]
    if error.code() == KafkaError.MSG_SIZE_TOO_LARGE:
        return RecordTooLargeError(size, topic)
    if error.code() in (KafkaError._MSG_TIMED_OUT, KafkaError.REQUEST_TIMED_OUT):  # noqa: SLF001
        return StateTimeoutError(
            f"Kafka did not acknowledge a write to {topic} in time: {error.str()}"
        )
    return TopicStateError(f"Kafka refused a write to {topic}: {error.str()}")
