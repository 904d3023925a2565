"""A record that is sent once more, to its topic or another one, byte for byte as it is stored."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from headwater.clients.errors import ClientError
from headwater.console.model.records.record_windows import Window, WindowReading, window_reader

if TYPE_CHECKING:
    from confluent_kafka import Message

    from headwater.console.model.cluster import Cluster
    from headwater.console.model.records.masks import Masks
    from headwater.console.model.records.producing import Producing

_READ_WITHIN_S = 8.0


class RecordPlace(NamedTuple):
    """Where a record is."""

    topic: str
    partition: int
    offset: int


class Resending:
    """All methods block."""

    def __init__(self, cluster: Cluster, producing: Producing, masks: Masks) -> None:
        self._cluster = cluster
        self._producing = producing
        self._masks = masks

    def send(self, place: RecordPlace, target: str, partition: int | None) -> tuple[int, int]:
        """Send it, and return its new partition and offset.

        Without a partition it goes where it came from in its own topic, and where its key belongs
        in another one. Raises ClientError, KafkaException, and ValueError for what may not be.
        """
        if not self._masks.hide_as_much(place.topic, target):
            # Otherwise whoever may produce could read there what nobody is to see here.
            raise ValueError(
                f"fields of '{place.topic}' are masked, and '{target}' would show some of them"
            )
        # A producer may create what is not there, and a name is mistyped easily.
        self._cluster.connection.describe_topics(sorted({place.topic, target}))
        if partition is None and target == place.topic:
            partition = place.partition
        message = self._stored(place)
        headers: list[tuple[str, bytes | None]] = list(message.headers() or ())
        return self._producing.write(target, message.key(), message.value(), headers, partition)

    def _stored(self, place: RecordPlace) -> Message:
        window = Window(place.offset, place.offset + 1)
        deadline = time.monotonic() + _READ_WITHIN_S
        reading = WindowReading(place.topic, {place.partition: window}, deadline)
        with window_reader(self._cluster.connection) as consumer:
            for message in reading.messages(consumer):
                if message.offset() == place.offset:
                    return message
        where = f"{place.topic}-{place.partition}"
        if reading.unfinished:
            raise ClientError(f"{where} did not answer within {_READ_WITHIN_S:g} s")
        raise ValueError(f"{where} has no record at offset {place.offset} any more")
