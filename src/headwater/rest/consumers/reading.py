"""Reading records from a consumer instance: so many bytes, within so much time, in its format."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from headwater.http.errors import HttpError
from headwater.rest.embedded_formats import read_plain
from headwater.rest.errors import consumer_not_found, illegal_state
from headwater.serde.errors import DeserializationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from confluent_kafka import Message

    from headwater.rest.consumers.instance import ConsumerInstance
    from headwater.rest.consumers.instances import ConsumerInstances
    from headwater.rest.schema_readers import SchemaReaders

# A thread is given back after this time, for others that wait; sooner where many do.
_SLICE_S = 0.25
_CROWDED_SLICE_S = 0.01


async def read_records(
    instances: ConsumerInstances,
    readers: SchemaReaders,
    instance: ConsumerInstance,
    timeout_s: float,
    max_bytes: int,
) -> list[dict[str, Any]]:
    """Return records as they stand in an answer; raises HttpError.

    It returns before its time is over where the instance's `fetch.min.bytes` are there, or all that
    it may return. A single record that is larger than that is returned nevertheless: nothing after
    it could ever be read otherwise.
    """
    if not instance.is_subscribed and not instance.is_assigned:
        raise illegal_state("Consumer is not subscribed to any topics or assigned any partitions")
    deadline = time.monotonic() + timeout_s
    async with instance.lock:
        taking = _Taking(instance, max_bytes)
        while not taking.is_enough():
            left_s = deadline - time.monotonic()
            if left_s <= 0 and taking.has_asked:
                break
            slice_s = _CROWDED_SLICE_S if instances.is_crowded else _SLICE_S
            await instances.use_locked(instance, _fetching(max(0.0, min(left_s, slice_s))))
            taking.has_asked = True
        if instance.is_deleted:
            raise consumer_not_found(instance.settings.group, instance.settings.name)
        return await instances.use_locked(instance, lambda mine: _hand_out(mine, readers, taking))


def _fetching(wait_s: float) -> Callable[[ConsumerInstance], None]:
    return lambda instance: instance.fetch(wait_s)


class _Taking:
    """How many of the records that have come in fit into one answer."""

    def __init__(self, instance: ConsumerInstance, max_bytes: int) -> None:
        self._instance = instance
        self._max_bytes = max_bytes
        self._bytes = 0
        self.count = 0
        self.has_asked = False

    def is_enough(self) -> bool:
        """Count what has come in since, and tell whether there is nothing to wait for."""
        instance = self._instance
        fetched = instance.fetched
        while self.count < len(fetched):
            size = _size(fetched[self.count])
            if self._bytes + size > self._max_bytes and self.count:
                return True
            self._bytes += size
            self.count += 1
        min_bytes = instance.settings.min_bytes
        is_filled = self._bytes >= self._max_bytes or -1 < min_bytes < self._bytes
        return is_filled or instance.is_deleted


def _size(message: Message) -> int:
    return len(message.key() or b"") + len(message.value() or b"")


def _hand_out(
    instance: ConsumerInstance, readers: SchemaReaders, taking: _Taking
) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    handed_out: list[Message] = []
    failure: Exception | None = None
    while len(records) < taking.count and instance.fetched:
        message = instance.fetched[0]
        try:
            records.append(_record(instance, readers, message))
        except (ValueError, DeserializationError) as malformed:
            failure = malformed
            break
        handed_out.append(instance.fetched.popleft())
    if failure is not None and not records:
        message = instance.fetched[0]
        raise HttpError(
            408,
            40801,
            f"Error deserializing the record of {message.topic()}-{message.partition()} at offset "
            f"{message.offset()}: {failure}. To go on after it, POST its next offset to /positions",
        )
    instance.hand_out(handed_out)
    return records


def _record(instance: ConsumerInstance, readers: SchemaReaders, message: Message) -> dict[str, Any]:
    format_ = instance.settings.format
    if format_.schema_type is None:
        key, value = (read_plain(format_, data) for data in (message.key(), message.value()))
    else:
        reader = readers.reader(format_)
        key, value = reader.key_of(message), reader.value_of(message)
    return {
        "topic": message.topic(),
        "key": key,
        "value": value,
        "partition": message.partition(),
        "offset": message.offset(),
    }
