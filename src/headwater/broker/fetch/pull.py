"""One fetch under way: reads what its session wants, and waits for more if that is too little."""

from __future__ import annotations

from time import time
from typing import TYPE_CHECKING, TypeAlias

from headwater.broker.authorizer import topic
from headwater.broker.requests.log_errors import error_code_of
from headwater.log.errors import LogError
from headwater.protocol import fetch as codec
from headwater.protocol.acls import AclOperation
from headwater.protocol.errors import ErrorCode
from headwater.protocol.fetch import FetchPartition, FetchRequest, PartitionFetched

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence

    from headwater.broker.broker import Broker
    from headwater.broker.fetch.session import FetchKey, FetchSession
    from headwater.broker.requests.request import Request, Response
    from headwater.broker.topics.partition import Partition
    from headwater.log.segments.segment import FileSlice
    from headwater.protocol.fetch import AbortedTransaction

Fetched: TypeAlias = "PartitionFetched[FileSlice]"

READ_COMMITTED = 1
_BYTES_PER_PARTITION = 700
"""What a fetch keeps of each partition while it waits, the partitions of its session included."""


class FetchPull:
    """Collects the answer to one fetch request."""

    __slots__ = (
        "_allowed", "_answer", "_broker", "_by_partition", "_client", "_is_committed",
        "_max_bytes", "_max_wait_ms", "_min_bytes", "_request_size", "_results", "_rights",
        "_session", "_sizes", "_throttle", "_timer", "_version", "_waits_on",
    )  # fmt: skip

    def __init__(
        self,
        broker: Broker,
        request: Request,
        wanted: FetchRequest,
        session: FetchSession,
    ) -> None:
        throttle = request.throttle
        self._broker = broker
        self._version = request.header.api_version
        self._rights = None if request.need_not_ask else request
        self._client = request.session
        self._allowed: dict[str | bytes, bool] = {}
        """Whether the client may read each topic, asked once for all its partitions."""
        # Not the request itself: its topics may be many, and are in the session.
        self._request_size = len(request.view)
        self._is_committed = wanted.isolation_level == READ_COMMITTED
        self._max_wait_ms = wanted.max_wait_ms
        self._session = session
        self._results: dict[FetchKey, Fetched] = {}
        self._sizes: dict[FetchKey, int] = {}
        self._throttle = throttle
        self._max_bytes = min(wanted.max_bytes, broker.config.integer("fetch.max.bytes"))
        if throttle is not None:
            self._max_bytes = int(min(self._max_bytes, throttle.most_fetch_bytes()))
        self._min_bytes = min(wanted.min_bytes, self._max_bytes)
        self._answer: asyncio.Future[Response] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._by_partition: dict[Partition, FetchKey] = {}
        self._waits_on: tuple[Partition, ...] = ()

    def read(self) -> bool:
        """Read every partition once and say whether that is enough to answer."""
        self._results.clear()
        self._allowed.clear()
        self._by_partition.clear()
        has_news = not self._session.wanted
        left = self._max_bytes
        total = 0
        for key, wanted in self._session.wanted.items():
            result, partition = self._read_one(key, wanted.partition, left, min_one=total == 0)
            self._results[key] = result
            size = self._sizes[key] = len(result.records)
            total += size
            left = max(0, left - size)
            if partition is None:
                has_news = True
            else:
                self._by_partition[partition] = key
        return has_news or total >= self._min_bytes

    @property
    def waiting_bytes(self) -> int:
        """The memory that is held while this waits."""
        return self._request_size + _BYTES_PER_PARTITION * len(self._by_partition)

    def wait(self) -> asyncio.Future[Response]:
        """Answer when enough has been appended, or when the client's patience or login ends."""
        self._results.clear()
        loop = self._broker.loop
        answer = self._answer = loop.create_future()
        answer.add_done_callback(self._stop_waiting)
        self._waits_on = tuple(self._by_partition)
        for partition in self._waits_on:
            partition.add_waiter(self)
        patience_s = self._max_wait_ms / 1000
        expires_at = self._client.authentication.expires_at
        if expires_at is not None:
            patience_s = min(patience_s, expires_at - time())
        self._timer = loop.call_later(patience_s, self._finish)
        return answer

    def high_watermark_moved(self, partition: Partition) -> None:
        """Look again at the one partition that moved; answer if that makes it enough."""
        if self._login_has_ended():
            self._finish()
            return
        key = self._by_partition.get(partition)
        wanted = None if key is None else self._session.wanted.get(key)
        if key is None or wanted is None:
            return
        result, found = self._read_one(key, wanted.partition, self._max_bytes, min_one=True)
        self._sizes[key] = len(result.records)
        if found is None or sum(self._sizes.values()) >= self._min_bytes:
            self._finish()

    def response(self) -> Response:
        """Encode what was last read, leaving out what an incremental session knows already.

        A client above its quota gets nothing yet, and its session goes on as if it had not asked.
        """
        session = self._session
        if self._throttle is not None:
            throttle_ms = self._throttle.admit_fetch(sum(self._sizes.values()))
            if throttle_ms:
                session_id = self._broker.fetch_sessions.give_up(session)
                return codec.encode_response(
                    self._version, throttle_ms, ErrorCode.NONE, session_id, []
                )
        topics: list[tuple[str | None, bytes | None, list[Fetched]]] = []
        last_topic: str | bytes | None = None
        for key, result in self._results.items():
            wanted = session.wanted.get(key)
            if wanted is None:
                continue
            unchanged = (
                session.is_incremental
                and not len(result.records)
                and result.error_code == ErrorCode.NONE
                and wanted.high_watermark == result.high_watermark
                and wanted.log_start_offset == result.log_start_offset
            )
            if unchanged:
                continue
            wanted.high_watermark = result.high_watermark
            wanted.log_start_offset = result.log_start_offset
            if key.topic != last_topic:
                last_topic = key.topic
                by_name = isinstance(last_topic, str)
                topics.append(
                    (last_topic, None, []) if by_name else (None, last_topic, [])  # type: ignore[arg-type]
                )
            topics[-1][2].append(result)
        for partition, key in self._by_partition.items():
            size = self._sizes[key]
            if size and key in session.wanted:
                session.served(key)
                partition.bytes_out += size
        return codec.encode_response(self._version, 0, ErrorCode.NONE, session.id, topics)

    def _finish(self) -> None:
        answer = self._answer
        if answer is None or answer.done():
            return
        if self._login_has_ended():
            # What there is by now, a client gets when it has logged in again.
            aborted: list[AbortedTransaction] | None = [] if self._is_committed else None
            for partition, key in self._by_partition.items():
                self._results[key] = _found(key.index, partition, b"", aborted)
                self._sizes[key] = 0
        else:
            self.read()
        answer.set_result(self.response())

    def _login_has_ended(self) -> bool:
        expires_at = self._client.authentication.expires_at
        return expires_at is not None and time() >= expires_at

    def _stop_waiting(self, _: asyncio.Future[Response]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for partition in self._waits_on:
            partition.remove_waiter(self)

    def _read_one(
        self, key: FetchKey, wanted: FetchPartition, left: int, *, min_one: bool
    ) -> tuple[Fetched, Partition | None]:
        """Return what one partition has, and the partition if there is a point in waiting."""
        if self._rights is not None and not self._may_read(self._rights, key.topic):
            return _failed(key.index, ErrorCode.TOPIC_AUTHORIZATION_FAILED), None
        partition = self._broker.topics.partition(key.topic, key.index)
        if isinstance(partition, ErrorCode):
            # Kafka answers these before it comes to transactions, with none instead of null.
            return PartitionFetched(key.index, partition, aborted_transactions=[]), None
        stale = partition.check_leader_epoch(wanted.current_leader_epoch)
        if stale is not ErrorCode.NONE:
            return _failed(key.index, stale), None
        if wanted.last_fetched_epoch > partition.leader_epoch:
            # What it has read last was never written here, so neither is what would come next.
            return _failed(key.index, ErrorCode.OFFSET_OUT_OF_RANGE), None
        offset, max_bytes = wanted.fetch_offset, min(left, wanted.max_bytes)
        aborted = None
        try:
            if self._is_committed:
                records, aborted = partition.read_committed(offset, max_bytes, min_one=min_one)
            else:
                records = partition.read(offset, max_bytes, min_one=min_one)
        except LogError as error:
            return _failed(key.index, error_code_of(error)), None
        return _found(key.index, partition, records, aborted), partition

    def _may_read(self, request: Request, name_or_id: str | bytes) -> bool:
        allowed = self._allowed.get(name_or_id)
        if allowed is None:
            name: str | None
            if isinstance(name_or_id, str):
                name = name_or_id
            else:
                found = self._broker.topics.by_id.get(name_or_id)
                name = None if found is None else found.name
            allowed = name is None or request.authorize(AclOperation.READ, topic(name))
            self._allowed[name_or_id] = allowed
        return allowed


def _found(
    index: int,
    partition: Partition,
    records: FileSlice | bytes,
    aborted: Sequence[AbortedTransaction] | None,
) -> Fetched:
    return PartitionFetched(
        index,
        ErrorCode.NONE,
        high_watermark=partition.high_watermark,
        last_stable_offset=partition.last_stable_offset,
        log_start_offset=partition.log.log_start_offset,
        aborted_transactions=aborted,
        records=records,
    )


def _failed(index: int, code: ErrorCode) -> Fetched:
    return PartitionFetched(index, code)
