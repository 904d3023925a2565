"""The producer: records go out in batches, and are answered when the cluster has taken them."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from confluent_kafka import KafkaError, KafkaException, Producer

from headwater.rest.errors import too_many_requests

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from confluent_kafka import Message

ANY_PARTITION = -1

# What a record takes besides its key and value, on its way.
_OVERHEAD = 100
_POLL_S = 0.1
_QUEUE_FULL = -184  # librdkafka's number of it
_FATAL = -150
_FLUSH_S = 10.0
_PURGED = (-152, -151)  # and of what was taken back before it went, and on its way


class OutgoingRecord(NamedTuple):
    """A record to be written; without a partition, its key decides, or chance."""

    key: bytes | None
    value: bytes | None
    partition: int = ANY_PARTITION
    timestamp: int = 0  # in milliseconds; 0 is now
    headers: list[tuple[str, bytes | None]] | None = None

    @property
    def size(self) -> int:
        """How many bytes it takes while it is on its way."""
        return len(self.key or b"") + len(self.value or b"") + _OVERHEAD


class Delivery(NamedTuple):
    """What the cluster said of a record."""

    partition: int
    offset: int
    timestamp: int
    error: KafkaError | None = None


class AcknowledgedProducer:
    """Sends records, and returns when each was acknowledged or has failed.

    So many bytes may be on their way at a time. Who comes with more waits until there is room, so
    that a slow cluster slows its clients down, and this process does not grow.
    """

    def __init__(self, settings: Mapping[str, Any], limit: int, max_wait_s: float) -> None:
        self._settings = dict(settings)
        self._limit = limit
        self._max_wait_s = max_wait_s
        self._life = _Life(self._settings)
        self._retired: list[_Life] = []
        self._is_dead = False
        self._reviving = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._acknowledged: deque[_Sent] = deque()
        self._is_waking = False
        self._waiting: deque[_Waiting] = deque()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._poll, name="rest-deliveries", daemon=True)
        self.in_flight = 0  # bytes

    def start(self) -> None:
        """Begin to take acknowledgements, on the loop that runs."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    def stop(self) -> None:
        """Wait for what is on its way, a while; blocks."""
        self._life.producer.flush(_FLUSH_S)
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    async def send(self, topic: str, records: Sequence[OutgoingRecord]) -> list[Delivery]:
        """Write records and return what became of each, in order; raises HttpError 429."""
        return await (await self.begin(topic, records))

    async def begin(
        self, topic: str, records: Sequence[OutgoingRecord]
    ) -> asyncio.Future[list[Delivery]]:
        """Put records on their way when there is room, and return what is to come of them.

        Who waits for this before the next call keeps the order. Raises HttpError 429.
        """
        done: asyncio.Future[list[Delivery]] = asyncio.get_running_loop().create_future()
        if not records:
            done.set_result([])
            return done
        if self._is_dead:
            await self._revive()
        size = sum(record.size for record in records)
        await self._room_for(size)
        sent = _Sent(self, self._life, size, len(records), done)
        for index, record in enumerate(records):
            self._produce(topic, record, partial(sent.acknowledged, index))
        return done

    def _produce(self, topic: str, record: OutgoingRecord, acknowledged: Any) -> None:
        try:
            self._life.producer.produce(
                topic,
                record.value,
                record.key,
                record.partition,
                on_delivery=acknowledged,
                timestamp=record.timestamp,
                headers=record.headers or [],
            )
        except KafkaException as failure:
            error: KafkaError = failure.args[0]
            if error.fatal() or error.code() == _FATAL:
                # What it died of is told to who polls, maybe a moment later.
                self._is_dead = True
                self._life.unexplained.append(acknowledged)
            else:
                acknowledged(error, None)
        except BufferError:
            acknowledged(KafkaError(_QUEUE_FULL), None)

    async def _revive(self) -> None:
        # An idempotent producer that has lost count: only a new one can go on. One that logs in
        # with a token takes a second to be made.
        async with self._reviving:
            if self._is_dead:
                new = await asyncio.to_thread(_Life, self._settings)
                self._retired.append(self._life)
                self._life, self._is_dead = new, False

    async def _room_for(self, size: int) -> None:
        # One that is larger than all there is goes alone.
        if not self._waiting and (not self.in_flight or self.in_flight + size <= self._limit):
            self.in_flight += size
            return
        waiting = _Waiting(size, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        try:
            async with asyncio.timeout(self._max_wait_s):
                await waiting.let_in
        except BaseException as failure:
            if waiting.let_in.done() and not waiting.let_in.cancelled():
                self._leave(size)  # it was let in at the very last moment
            else:
                self._waiting.remove(waiting)
            if isinstance(failure, TimeoutError):
                raise too_many_requests(
                    f"The cluster did not take records for {self._max_wait_s:g} s, and "
                    f"{self._limit} bytes of them wait already."
                ) from None
            raise

    def _leave(self, size: int) -> None:
        self.in_flight -= size
        while self._waiting:
            first = self._waiting[0]
            if self.in_flight and self.in_flight + first.size > self._limit:
                return
            self._waiting.popleft()
            self.in_flight += first.size
            first.let_in.set_result(None)

    # In the thread that takes acknowledgements

    def _poll(self) -> None:
        while not self._stopped.is_set():
            self._life.serve(_POLL_S)
            for life in self._retired[:]:
                life.serve(0)
                if not len(life.producer) and not life.unexplained:
                    self._retired.remove(life)

    def answered(self, sent: _Sent) -> None:
        """Tell the loop that all records of a request have their answers; from any thread."""
        self._acknowledged.append(sent)
        if not self._is_waking:
            # One call for all that comes in until the loop has time.
            self._is_waking = True
            assert self._loop is not None
            self._loop.call_soon_threadsafe(self._answer)

    # On the loop

    def _answer(self) -> None:
        self._is_waking = False
        while self._acknowledged:
            sent = self._acknowledged.popleft()
            self._leave(sent.size)
            if not sent.done.done():  # its client may have left
                sent.done.set_result(sent.deliveries)


class _Life:
    """A producer of librdkafka's until it dies, and what it died of."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.producer = Producer(settings)
        self.cause: KafkaError | None = None
        self.unexplained: deque[Callable[[KafkaError, None], None]] = deque()
        """Those whom it refused because it is dead."""

    def serve(self, timeout_s: float) -> None:
        try:
            self.producer.poll(timeout_s)
        except KafkaException as failure:
            # A producer that cannot go on, such as one that may not write at all. What it still
            # has would wait for its time to be over; who waits for the answer is told why now.
            self.cause = failure.args[0]
            self.producer.purge()
        while self.unexplained and self.cause is not None:
            self.unexplained.popleft()(self.cause, None)


class _Sent:
    """The records of one request, on their way."""

    def __init__(
        self,
        producer: AcknowledgedProducer,
        life: _Life,
        size: int,
        count: int,
        done: asyncio.Future[list[Delivery]],
    ) -> None:
        self.size = size
        self.done = done
        self.deliveries: list[Any] = [None] * count
        self._producer = producer
        self._life = life
        self._left = count
        self._lock = threading.Lock()

    def acknowledged(self, index: int, error: KafkaError | None, message: Message | None) -> None:
        if error is not None and error.code() in _PURGED:
            error = self._life.cause or error
        if error is not None or message is None:
            delivery = Delivery(ANY_PARTITION, -1, -1, error)
        else:
            partition, offset = message.partition(), message.offset()
            delivery = Delivery(partition or 0, offset or 0, message.timestamp()[1])
        self.deliveries[index] = delivery
        with self._lock:  # what fails at once is reported by the loop's thread
            self._left -= 1
            is_last = not self._left
        if is_last:
            self._producer.answered(self)


class _Waiting(NamedTuple):
    """A request that there is no room for yet."""

    size: int
    let_in: asyncio.Future[None]
