"""Records that are answered, also when the producer that had them cannot go on."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaError, KafkaException
from tests.waiting import HUNG_AFTER_S

from headwater.rest import acknowledged_producer
from headwater.rest.acknowledged_producer import AcknowledgedProducer, OutgoingRecord

if TYPE_CHECKING:
    import pytest

DENIED, FENCED = KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError._FENCED


class Dying:
    """A producer that takes one record, dies when a second one comes, and says later of what.

    librdkafka's dies of what only a cluster that changes its mind could do to it, in its own time.
    """

    causes: list[int]

    def __init__(self, _: object) -> None:
        self._cause = self.causes.pop(0)
        self._taken: list[Any] = []
        self._polls_until_told = -1

    def produce(self, *_: object, on_delivery: Any, **__: object) -> None:
        if not self._taken:
            self._taken.append(on_delivery)
            return
        self._polls_until_told = 3
        raise KafkaException(KafkaError(KafkaError._FATAL))

    def poll(self, _: float) -> None:
        time.sleep(0.001)
        self._polls_until_told -= 1
        if self._polls_until_told == 0:
            raise KafkaException(KafkaError(self._cause))

    def purge(self) -> None:
        for each in self._taken:
            each(KafkaError(KafkaError._PURGE_QUEUE), None)
        self._taken.clear()

    def flush(self, _: float) -> None:
        """Have nothing left."""

    def __len__(self) -> int:
        return len(self._taken)


def test_each_death_is_told_with_its_own_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Dying, "causes", [DENIED, FENCED, DENIED], raising=False)
    monkeypatch.setattr(acknowledged_producer, "Producer", Dying)

    async def run() -> list[list[int]]:
        producer = AcknowledgedProducer({}, 1000, 1.0)
        producer.start()
        told = []
        for _ in range(3):
            async with asyncio.timeout(HUNG_AFTER_S):
                answers = await producer.send("orders", [OutgoingRecord(None, b"it")] * 2)
            told.append([each.error.code() for each in answers if each.error is not None])
        producer.stop()
        return told

    assert asyncio.run(run()) == [[DENIED] * 2, [FENCED] * 2, [DENIED] * 2]
