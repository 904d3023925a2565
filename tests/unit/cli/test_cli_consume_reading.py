"""Where `consume --until-end` ends, also where the last offsets hold no records."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, Message

from headwater.cli.commands.consume import Reading
from headwater.cli.errors import CommandError
from headwater.clients.start_position import Span


def record(partition: int, offset: int) -> Message:
    return Message(topic="t", partition=partition, offset=offset, value=b"v")


def event(partition: int, code: int) -> Message:
    return Message(topic="t", partition=partition, offset=0, error=KafkaError(code))


def test_it_ends_with_the_last_record_of_each_partition() -> None:
    reading = Reading("t", {0: Span(0, 0, 2), 1: Span(0, 5, 6)}, until_end=True)
    assert [reading.accepts(record(0, offset)) for offset in range(3)] == [True, True, False]
    assert not reading.finished
    assert reading.accepts(record(1, 5))
    assert reading.finished


def test_an_empty_span_is_finished_from_the_start() -> None:
    assert Reading("t", {0: Span(3, 9, 9)}, until_end=True).finished


def test_the_end_may_be_told_where_the_last_offset_holds_no_record() -> None:
    reading = Reading("t", {0: Span(0, 0, 10)}, until_end=True)
    assert reading.accepts(record(0, 7))
    assert not reading.accepts(event(0, KafkaError._PARTITION_EOF))
    assert reading.finished


def test_without_an_end_it_never_finishes() -> None:
    reading = Reading("t", {0: Span(0, 0, 1)}, until_end=False)
    assert reading.accepts(record(0, 0))
    assert not reading.accepts(event(0, KafkaError._PARTITION_EOF))
    assert reading.accepts(record(0, 1))
    assert not reading.finished


def test_an_error_of_a_partition_is_said() -> None:
    reading = Reading("t", {0: Span(0, 0, 1)}, until_end=False)
    with pytest.raises(CommandError, match=r"t \[0\]: .*UNKNOWN_TOPIC_OR_PART"):
        reading.accepts(event(0, KafkaError.UNKNOWN_TOPIC_OR_PART))
