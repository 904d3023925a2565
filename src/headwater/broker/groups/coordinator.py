"""The group coordinator: shards of groups on the event loop, the disk and the clock."""

from __future__ import annotations

import asyncio
import logging
from functools import lru_cache, partial
from time import perf_counter, time_ns
from typing import TYPE_CHECKING
from uuid import uuid4

from headwater.broker.groups.environment import Environment, Producer
from headwater.broker.groups.journal import PartitionJournal
from headwater.broker.groups.loading import load_shard
from headwater.broker.groups.offsets.messages import CommitReply, CommitRequest, CommitResult
from headwater.broker.groups.offsets.requests import OffsetRequests
from headwater.broker.groups.settings import GroupSettings
from headwater.broker.groups.shard import GroupShard
from headwater.broker.groups.timers import Timers
from headwater.broker.topics.coordinator_partition import coordinator_partition
from headwater.broker.topics.topic_names import CONSUMER_OFFSETS
from headwater.log.errors import LogError
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from headwater.broker.broker import Broker
    from headwater.broker.topics.partition import Partition
    from headwater.broker.topics.topics import Topic, TopicRegistry

logger = logging.getLogger("headwater.broker.groups")

_MAX_ACTIVE_SEGMENT = 8 << 20
"""Compaction leaves the active segment alone, and a start has to read all of it."""


class Shard:
    """One partition's groups; `groups` and `offsets` are there once it has been read."""

    def __init__(self, partition: Partition, groups: GroupShard) -> None:
        self.partition = partition
        self.groups = groups
        self.offsets = OffsetRequests(groups)
        self.is_loaded = False
        self.ended_meanwhile: list[tuple[int, bool]] = []
        """Transactions that ended while the shard was being read."""


class GroupCoordinator:
    """All groups of the broker. Whoever asks for a group's shard may be told to wait."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._shards: list[Shard] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._timers = Timers(self._clock_ms, self._wake_at)
        self._alarm: asyncio.TimerHandle | None = None
        self.settings = GroupSettings.from_config(broker.config)

    def start(self) -> None:
        """Begin to read what there is; nobody has to wait for it."""
        self._broker.topics.on_delete(self._forget_topic)
        topic = self._broker.topics.by_name.get(CONSUMER_OFFSETS)
        if topic is not None:
            self._open(topic)
        self._spawn(self._expire_offsets())

    async def stop(self) -> None:
        """Let go of everything; who waits for a rebalance is told to look for it elsewhere."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._close()

    async def ensure_topic(self) -> None:
        """Create `__consumer_offsets` if this is the first group ever; raises KafkaError."""
        if not self._shards:
            await self._broker.topics.changes.run(self._create_topic)

    def partition_of(self, group_id: str) -> int:
        """Return the partition of `__consumer_offsets` that a group's records go to."""
        if not self._shards:
            raise KafkaError(ErrorCode.NOT_COORDINATOR, f"there is no {CONSUMER_OFFSETS} yet")
        return _partition_of(group_id, len(self._shards))

    def shard(self, group_id: str) -> Shard:
        """Return the shard of a group; raises KafkaError while it is being read."""
        shard = self._shards[self.partition_of(group_id)]
        if not shard.is_loaded:
            raise KafkaError(
                ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "the group is still being read"
            )
        return shard

    def all_shards(self) -> Iterator[Shard]:
        """Return all shards; raises KafkaError while one of them is being read."""
        for shard in self._shards:
            if not shard.is_loaded:
                raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
            yield shard

    def commit_in_transaction(
        self, request: CommitRequest, producer: Producer, reply: CommitReply
    ) -> None:
        """Write offsets that count once the producer's transaction is committed."""
        try:
            shard = self.shard(request.group_id)
        except KafkaError as refusal:
            reply(CommitResult(refusal.code))
        else:
            shard.offsets.commit_in_transaction(request, producer, reply)

    def transaction_ended(self, partition: int, producer_id: int, *, committed: bool) -> None:
        """Let the offsets of a transaction count, or not, after its marker has been written."""
        if partition >= len(self._shards):
            return
        shard = self._shards[partition]
        if shard.is_loaded:
            shard.groups.offsets.complete_txn(producer_id, committed)
        else:
            shard.ended_meanwhile.append((producer_id, committed))

    async def _create_topic(self) -> None:
        topics = self._broker.topics
        if CONSUMER_OFFSETS not in topics.by_name:
            await topics.create_internal(CONSUMER_OFFSETS)
        if not self._shards:
            self._open(topics.by_name[CONSUMER_OFFSETS])

    def _open(self, topic: Topic) -> None:
        for partition in topic.partitions:
            environment = Environment(
                self.settings,
                self._timers,
                PartitionJournal(self._broker, partition),
                BrokerTopics(self._broker.topics),
                _now_ms,
                lambda: str(uuid4()),
            )
            self._shards.append(Shard(partition, GroupShard(environment)))
        unread = []
        for shard in self._shards:
            if shard.partition.log.log_end_offset > shard.partition.log.log_start_offset:
                unread.append(shard)
            else:
                shard.is_loaded = True
        if unread:
            self._spawn(self._load(unread))

    def _close(self) -> None:
        shards, self._shards = self._shards, []
        for shard in shards:
            shard.groups.close()
        self._timers.clear()
        if self._alarm is not None:
            self._alarm.cancel()

    async def _load(self, shards: Iterable[Shard]) -> None:
        started = perf_counter()
        groups = 0
        for shard in shards:
            log = shard.partition.log
            try:
                await asyncio.to_thread(load_shard, shard.groups, log, _now_ms())
            except LogError as error:
                logger.error("the groups in %s cannot be served: %s", log.name, error)
                continue
            for producer_id, committed in shard.ended_meanwhile:
                shard.groups.offsets.complete_txn(producer_id, committed)
            shard.groups.resume()
            shard.is_loaded = True
            groups += len(shard.groups.groups)
            self._roll_if_large(shard)
        logger.info("read %d groups in %.0f ms", groups, (perf_counter() - started) * 1000)

    async def _expire_offsets(self) -> None:
        interval_s = self.settings.offsets_retention_check_interval_ms / 1000
        while True:
            await asyncio.sleep(interval_s)
            for shard in self._shards:
                if shard.is_loaded:
                    shard.offsets.expire()
                    self._roll_if_large(shard)
                    await asyncio.sleep(0)

    def _roll_if_large(self, shard: Shard) -> None:
        log = shard.partition.log
        if log.segments[-1].size > _MAX_ACTIVE_SEGMENT:
            try:
                log.roll(_now_ms())
            except LogError as error:
                logger.warning("%s is compacted later: %s", log.name, error)

    def _forget_topic(self, topic: Topic) -> None:
        if topic.name == CONSUMER_OFFSETS:
            self._close()
            return
        for shard in self._shards:
            if shard.is_loaded:
                shard.offsets.forget_topic(topic.name)

    def _spawn(self, work: object) -> None:
        task: asyncio.Task[None] = self._broker.loop.create_task(work)  # type: ignore[arg-type]
        self._tasks.add(task)
        task.add_done_callback(partial(_finished, self._tasks))

    def _clock_ms(self) -> int:
        return int(self._broker.loop.time() * 1000)

    def _wake_at(self, at_ms: int) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        loop = self._broker.loop
        delay_s = max(at_ms / 1000 - loop.time(), 0.0)
        self._alarm = loop.call_later(delay_s, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        try:
            self._timers.fire()
        except Exception:
            # One group's trouble must not keep the timers of all others from going off.
            logger.exception("a timeout of a group could not be dealt with")
        if self._timers.next_at is not None:
            self._wake_at(self._timers.next_at)


class BrokerTopics:
    """The broker's topics, as `environment.Topics` wants them."""

    def __init__(self, registry: TopicRegistry) -> None:
        self._registry = registry

    @property
    def version(self) -> int:
        """A number that changes whenever a topic or its number of partitions does."""
        return self._registry.version

    def partition_count(self, name: str) -> int | None:
        """Return how many partitions a topic has; None if there is no such topic."""
        topic = self._registry.by_name.get(name)
        return None if topic is None else len(topic.partitions)

    def id_of(self, name: str) -> bytes | None:
        """Return a topic's id; None if there is no such topic."""
        topic = self._registry.by_name.get(name)
        return None if topic is None else topic.topic_id

    def name_of(self, topic_id: bytes) -> str | None:
        """Return a topic's name; None if there is no such topic."""
        topic = self._registry.by_id.get(topic_id)
        return None if topic is None else topic.name

    def names(self) -> Iterable[str]:
        """Return the names of all topics."""
        return self._registry.by_name.keys()


_partition_of = lru_cache(maxsize=10_000)(coordinator_partition)
"""Every heartbeat asks, and Java's hash is slow in Python."""


def _now_ms() -> int:
    return time_ns() // 1_000_000


def _finished(tasks: set[asyncio.Task[None]], task: asyncio.Task[None]) -> None:
    tasks.discard(task)
    if not task.cancelled() and task.exception() is not None:
        logger.error("background work of groups failed", exc_info=task.exception())
