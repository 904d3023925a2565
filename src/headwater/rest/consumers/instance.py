"""One consumer instance: what its client asked for, and the Kafka consumer that it gets at last."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from headwater.clients.retries import PASSING
from headwater.rest.errors import illegal_state

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from headwater.rest.embedded_formats import EmbeddedFormat

Place: TypeAlias = tuple[str, int]

# A topic may come into being later; Kafka's own consumer waits for it, too.
_PATIENTLY = PASSING | {"UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_PARTITION", "_MAX_POLL_EXCEEDED"}
_SEEK_WITHIN_S = 10.0
_PAUSE_S = 0.05
_AT_ONCE = 500
_TIMED_OUT = -185  # librdkafka's number of it


@dataclass(frozen=True)
class InstanceSettings:
    """What a client says when it makes an instance."""

    group: str
    name: str
    format: EmbeddedFormat
    auto_offset_reset: str | None = None
    auto_commit: bool | None = None
    min_bytes: int = -1
    request_timeout_s: float = 1.0


@dataclass
class ConsumerInstance:
    """A consumer of one client. All methods block, and are called one at a time.

    The Kafka consumer is made when something is asked that only it can do: it costs four threads
    and a quarter of a megabyte, and a client that never comes back should not cost as much.
    """

    settings: InstanceSettings
    client: Mapping[str, Any]
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    last_used: float = field(default_factory=time.monotonic)
    is_deleted: bool = False
    topics: list[str] = field(default_factory=list)  # those that it subscribed to
    is_subscribed: bool = False
    is_assigned: bool = False
    fetched: deque[Message] = field(default_factory=deque)  # and not yet handed out
    _consumer: Consumer | None = None
    _handed_out: dict[Place, int] = field(default_factory=dict)

    @property
    def has_consumer(self) -> bool:
        """Whether it has a Kafka consumer already."""
        return self._consumer is not None

    def subscribe(self, topics: Sequence[str], pattern: str | None) -> None:
        """Read topics together with the group; raises HttpError 409."""
        if self.is_assigned:
            raise illegal_state(
                "the instance has partitions assigned, and cannot subscribe as well"
            )
        # As Java does, a pattern has to match the whole name.
        wanted = list(topics) if pattern is None else [f"^({pattern})$"]
        self._kafka().subscribe(wanted)
        self.topics = list(topics) if pattern is None else []
        self.is_subscribed = True
        self.fetched.clear()

    def unsubscribe(self) -> None:
        """Read nothing any more."""
        if self._consumer is not None:
            self._store()
            self._consumer.unsubscribe()
            self._consumer.unassign()
        self.topics, self.is_subscribed, self.is_assigned = [], False, False
        self.fetched.clear()

    def assign(self, partitions: Sequence[Place]) -> None:
        """Read just these partitions; raises HttpError 409."""
        if self.is_subscribed:
            raise illegal_state("the instance is subscribed, and cannot have partitions as well")
        self._store()
        self._kafka().assign([TopicPartition(*each) for each in partitions])
        self.is_assigned = True
        self.fetched.clear()

    def assignment(self) -> list[Place]:
        """Return the partitions that it reads."""
        if self._consumer is None:
            return []
        self.fetch(0)  # partitions are given and taken while somebody asks for records
        return sorted((each.topic, each.partition) for each in self._consumer.assignment())

    def subscription(self) -> list[str]:
        """Return the topics that it subscribed to."""
        if self.is_subscribed and not self.topics:  # by a pattern
            return sorted({topic for topic, _ in self.assignment()})
        return self.topics

    def seek(self, place: Place, offset: int) -> None:
        """Go on from another offset, or an end; raises HttpError 409, KafkaException."""
        deadline = time.monotonic() + _SEEK_WITHIN_S
        while place not in self.assignment():
            if not self.is_subscribed or time.monotonic() > deadline:
                raise illegal_state(
                    f"No current assignment for partition {place[0]}-{place[1]}. Assign it, or "
                    "subscribe to its topic and read once"
                )
            self.fetch(_PAUSE_S)
        while True:
            try:
                self._kafka().seek(TopicPartition(*place, offset))
                break
            except KafkaException as failure:
                # It was assigned a moment ago, and its first offset is still being asked for.
                if failure.args[0].name() != "_STATE" or time.monotonic() > deadline:
                    raise
                self.fetch(_PAUSE_S)
        self.fetched = deque(
            each for each in self.fetched if (each.topic(), each.partition()) != place
        )
        self._handed_out.pop(place, None)

    def seek_to_end_of(self, place: Place, *, first: bool) -> None:
        """Go on from a partition's first offset, or from its end as it is now."""
        # librdkafka would look for the end when it fetches next: what comes until then is lost.
        ends = self._kafka().get_watermark_offsets(TopicPartition(*place), timeout=_SEEK_WITHIN_S)
        if ends is None:
            raise KafkaException(KafkaError(_TIMED_OUT))
        self.seek(place, ends[0] if first else ends[1])

    def offsets_at(self, times: Mapping[Place, int]) -> dict[Place, int]:
        """Return the first offsets of partitions at or after some times."""
        asked = [TopicPartition(*place, at) for place, at in times.items()]
        found = self._kafka().offsets_for_times(asked, timeout=_SEEK_WITHIN_S)
        return {(each.topic, each.partition): each.offset for each in found}

    def fetch(self, wait_s: float) -> None:
        """Take what has come in, or wait for the first record; raises KafkaException."""
        consumer = self._kafka()
        first = consumer.poll(wait_s)
        if first is None:
            return
        for message in (first, *consumer.consume(_AT_ONCE, 0)):
            error = message.error()
            if error is None:
                self.fetched.append(message)
            elif error.name() not in _PATIENTLY:
                raise KafkaException(error)

    def hand_out(self, messages: Iterable[Message]) -> None:
        """Note that these have gone to the client, and so may be committed."""
        for message in messages:
            topic, partition, offset = message.topic(), message.partition(), message.offset()
            assert topic is not None
            assert partition is not None
            assert offset is not None
            self._handed_out[topic, partition] = offset + 1
        self._store()

    def commit(self, offsets: Sequence[tuple[Place, int, str | None]] | None) -> None:
        """Commit these offsets, or what was handed out; raises KafkaException."""
        if offsets is None:
            wanted = [TopicPartition(*place, next_) for place, next_ in self._handed_out.items()]
        else:
            wanted = [
                TopicPartition(*place, offset + 1)
                if metadata is None
                else TopicPartition(*place, offset + 1, metadata)
                for place, offset, metadata in offsets
            ]
        if not wanted:
            return
        for committed in self._kafka().commit(offsets=wanted, asynchronous=False) or ():
            if committed.error is not None:
                raise KafkaException(committed.error)

    def committed(self, partitions: Sequence[Place]) -> list[TopicPartition]:
        """Return the offsets that the group has committed for these; raises KafkaException."""
        asked = [TopicPartition(*each) for each in partitions]
        return self._kafka().committed(asked, timeout=_SEEK_WITHIN_S) if asked else []

    def close(self) -> None:
        """Leave the group, with what was handed out committed where that is wanted."""
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None

    def _store(self) -> None:
        """Let the consumer commit what was handed out, of the partitions that it still has."""
        if self._consumer is None or self.settings.auto_commit is False:
            return
        mine = {(each.topic, each.partition) for each in self._consumer.assignment()}
        stored = [
            TopicPartition(*place, offset)
            for place, offset in self._handed_out.items()
            if place in mine
        ]
        if stored:
            self._consumer.store_offsets(offsets=stored)

    def _kafka(self) -> Consumer:
        if self._consumer is None:
            settings = self.settings
            given = {
                "auto.offset.reset": settings.auto_offset_reset,
                "enable.auto.commit": settings.auto_commit,
            }
            self._consumer = Consumer(
                {
                    **self.client,
                    **{name: value for name, value in given.items() if value is not None},
                    "group.id": settings.group,
                    "enable.auto.offset.store": False,
                }
            )
        return self._consumer
