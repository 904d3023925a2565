"""Reads a partition as it is stored, to the end, with the raw client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kio.schema.errors import ErrorCode
from tests.chaos.keyed_ledger import Change
from tests.integration.raw_client import RawClient
from tests.integration.raw_requests import Topic, fetch
from tests.integration.record_batches import Message, end_of, records_in

if TYPE_CHECKING:
    from tests.broker_process import BrokerProcess
    from tests.chaos.ledger import Stored


def read_all(
    broker: BrokerProcess, topic: Topic, partition: int = 0, start: int = 0
) -> list[tuple[int, Message]]:
    """Every record from an offset up to the high watermark, however many fetches it takes."""
    found: list[tuple[int, Message]] = []
    position = start
    with RawClient(broker) as client:
        while True:
            answer = fetch(
                client, topic, position, partition=partition, partition_max_bytes=4 << 20
            )
            assert answer.error_code is ErrorCode.none, answer.error_code
            found += [item for item in records_in(answer.records) if item[0] >= position]
            end = end_of(answer.records)
            if end is None:
                assert position >= answer.high_watermark, f"nothing readable at {position}"
                return found
            assert end > position, f"the fetch at {position} ended at {end}"
            position = end


def read_values(
    broker: BrokerProcess, topic: Topic, partition: int, start: int = 0
) -> list[Stored]:
    return [
        (offset, message.value) for offset, message in read_all(broker, topic, partition, start)
    ]


def read_changes(broker: BrokerProcess, topic: Topic) -> list[tuple[int, Change]]:
    return [(offset, _change(message)) for offset, message in read_all(broker, topic)]


def _change(message: Message) -> Change:
    number = next(value for name, value in message.headers if name == "number")
    assert number is not None
    assert message.key is not None
    return Change(int(number), message.key, message.value)
