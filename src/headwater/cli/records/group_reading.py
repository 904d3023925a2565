"""Reading as a member of a consumer group: what is printed is committed, and read only once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from headwater.cli.errors import CommandError
from headwater.cli.output import note
from headwater.clients.connection import call
from headwater.clients.errors import describe
from headwater.clients.retries import PASSING, retry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

    from headwater.clients.start_position import StartPosition

# The group has moved on without us. Whoever has the partition now reads these records again.
_MOVED_ON = (
    "REBALANCE_IN_PROGRESS",
    "ILLEGAL_GENERATION",
    "UNKNOWN_MEMBER_ID",
    "STALE_MEMBER_EPOCH",
    "FENCED_MEMBER_EPOCH",
    "_ASSIGNMENT_LOST",
)


def group_settings(group: str, start: StartPosition | None) -> dict[str, object]:
    """Return the settings of a consumer in a group; `start` is for a group without offsets."""
    if start is not None and start.kind not in ("earliest", "latest"):
        raise click.UsageError(
            "A group goes on from its committed offsets. With --group, --offset can only be "
            "earliest or latest; reset them with: headwater groups reset-offsets"
        )
    return {
        "group.id": group,
        "auto.offset.reset": "latest" if start is None else start.kind,
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
    }


class GroupReading:
    """Which records belong to us, and how far we have come with what we were assigned."""

    def __init__(self, consumer: Consumer, topic: str, *, until_end: bool, verbose: bool) -> None:
        self._consumer = consumer
        self._topic = topic
        self._until_end = until_end
        self._verbose = verbose
        self._assigned: set[int] = set()
        self._at_end: set[int] = set()
        consumer.subscribe(
            [topic], on_assign=self._was_assigned, on_revoke=self._lost, on_lost=self._lost
        )

    @property
    def finished(self) -> bool:
        """Whether the end was asked for, and reached in everything that we were assigned."""
        return self._until_end and bool(self._assigned) and self._assigned <= self._at_end

    def accepts(self, message: Message) -> bool:
        """Take note of a message; False for what is no record."""
        error: KafkaError | None = message.error()
        if error is None:
            self._at_end.discard(message.partition())
            return True
        if error.name() == "_PARTITION_EOF":
            self._at_end.add(message.partition())
            return False
        if error.name() in PASSING:
            return False  # the client goes on by itself as soon as somebody has taken over
        raise CommandError(f"{self._topic} [{message.partition()}]: {describe(error)}")

    def printed(self, records: Sequence[Message]) -> None:
        """Commit what was printed."""
        from confluent_kafka import KafkaException, TopicPartition

        last = {message.partition(): message.offset() for message in records}
        offsets = [TopicPartition(self._topic, one, offset + 1) for one, offset in last.items()]
        try:
            retry(lambda: call(lambda: self._consumer.commit(offsets=offsets, asynchronous=False)))
        except KafkaException as failure:
            if failure.args[0].name() not in _MOVED_ON:
                raise
            note("The group was rebalanced meanwhile; what was printed last may be read again.")

    def _was_assigned(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._assigned |= {one.partition for one in partitions}
        self._say()

    def _lost(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        gone = {one.partition for one in partitions}
        self._assigned -= gone
        self._at_end -= gone
        self._say()

    def _say(self) -> None:
        if self._verbose:
            held = ", ".join(map(str, sorted(self._assigned))) or "none"
            note(f"{self._topic}: partitions of ours are {held}")
