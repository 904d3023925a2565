"""What a service brings along: the meaning of its records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.topic_state.leadership import Headers, Mark
    from headwater.topic_state.log import KeyValue, Record

Decoded = TypeVar("Decoded")


class State(Protocol[Decoded]):
    """What the records of a topic amount to; all of it is called on the event loop.

    A state that is no more than the last value of each key:

        class LastValues:
            claim_key = b"leader"

            def __init__(self) -> None:
                self.values: dict[bytes, bytes] = {}

            def decode(self, record: Record) -> bytes:
                if record.key is None:
                    raise InvalidRecordError("it has no key")
                return record.key

            def apply(self, decoded: bytes, record: Record, mark: Mark | None) -> None:
                if record.value is None:
                    self.values.pop(decoded, None)
                else:
                    self.values[decoded] = record.value

            def restoring(self, key: bytes) -> list[KeyValue]:
                return [(key, self.values.get(key))]

            def claim_headers(self) -> Headers:
                return []
    """

    @property
    def claim_key(self) -> bytes:
        """The key of the records that claim the lead; nothing else is written under it."""

    def decode(self, record: Record) -> Decoded:
        """Understand a record before anything else is done with it.

        Raises InvalidRecordError for one to skip, which then says nothing about who leads either.
        """

    def apply(self, decoded: Decoded, record: Record, mark: Mark | None) -> None:
        """Take in a record that counts; claims are among them."""

    def restoring(self, key: bytes) -> Sequence[KeyValue]:
        """Return records that bring about what a key stands for, whatever was written since.

        The key is that of a record that was decoded and did not count.
        """

    def claim_headers(self) -> Headers:
        """Return what a claim should say besides who leads, and compaction would forget."""
